#!/bin/bash
vllm serve Qwen/Qwen3.6-27B-FP8 \
  --enable-prefix-caching --mamba-cache-mode align \
  --speculative-config '{"method":"qwen3_5_mtp","num_speculative_tokens":3}'
