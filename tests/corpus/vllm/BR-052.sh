#!/bin/bash
# A100, temperature 0
vllm serve Qwen/Qwen3-0.6B \
  --speculative-config '{"method":"ngram","num_speculative_tokens":4,"prompt_lookup_min":2,"prompt_lookup_max":5}'
