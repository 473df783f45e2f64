#!/bin/bash
vllm serve Qwen/Qwen3.5-27B \
  --pipeline-parallel-size 2 \
  --speculative-config '{"method":"mtp","num_speculative_tokens":2}'
