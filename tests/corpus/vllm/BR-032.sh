#!/bin/bash
# Requests come with response_format json_schema.
vllm serve Qwen/Qwen3.6-27B-FP8 \
  --reasoning-parser qwen3 \
  --speculative-config '{"method":"mtp","num_speculative_tokens":2}'
