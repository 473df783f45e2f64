#!/bin/bash
set -euo pipefail
vllm serve deepseek-ai/DeepSeek-V4-Flash \
  --tensor-parallel-size 2 \
  --max-num-seqs 6 \
  --max-cudagraph-capture-size ${MAX_NUM_SEQS:-6} \
  --speculative-config '{"method":"dspark","num_speculative_tokens":3}'
