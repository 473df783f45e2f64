#!/bin/bash
vllm serve Qwen/Qwen3-1.7B \
  --no-enable-prefix-caching --async-scheduling \
  --speculative_config '{"method":"ngram_gpu","num_speculative_tokens":3,"prompt_lookup_max":2,"prompt_lookup_min":2}'
