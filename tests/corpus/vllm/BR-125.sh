#!/bin/bash
# What the wrapper runs: its argument was quoted a second time.
vllm serve Qwen/Qwen3.5-27B-FP8 \
  --max-model-len 131072 \
  --speculative-config '\{\"method\":\"qwen3_next_mtp\",\"num_speculative_tokens\":2\}'
