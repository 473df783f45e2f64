#!/bin/bash
vllm serve Qwen/Qwen3-4B \
  --dtype bfloat16 \
  --speculative_config '{"model":"Qwen/Qwen3-0.6B","num_speculative_tokens":5}'
