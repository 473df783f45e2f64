#!/bin/bash
vllm serve Qwen/Qwen3-8B \
  --enforce-eager \
  --speculative-config '{"method":"eagle3","model":"RedHatAI/Qwen3-8B-speculator.eagle3","num_speculative_tokens":15}'
