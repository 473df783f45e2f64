#!/bin/bash
vllm serve Qwen/Qwen3-32B \
  --tensor-parallel-size 2 \
  --max-num-seqs 32 \
  --speculative-config '{"method":"ngram","num_speculative_tokens":16,"prompt_lookup_max":8,"prompt_lookup_min":3}'
