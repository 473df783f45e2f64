#!/bin/bash
vllm serve Qwen/Qwen3-4B-Instruct-2507 \
  --max-model-len 32768 \
  --speculative-config '{"method":"qwen3_next_mtp","num_speculative_tokens":1}'
