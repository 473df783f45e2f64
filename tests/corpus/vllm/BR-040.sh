#!/bin/bash
vllm serve nvidia/Qwen3.5-122B-A10B-NVFP4 \
  --no-enable-prefix-caching --gpu-memory-utilization 0.80 \
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}'
