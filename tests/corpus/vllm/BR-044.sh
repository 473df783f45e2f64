#!/bin/bash
vllm serve Qwen/Qwen3-8B \
  --speculative-config '{"method":"ngram","num_speculative_tokens":10,"ngram_prompt_lookup_max":10}'
