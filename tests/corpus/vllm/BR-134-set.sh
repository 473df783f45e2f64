#!/bin/bash
set -euo pipefail
MAX_NUM_SEQS=6
vllm serve deepseek-ai/DeepSeek-V4-Flash \
  --tensor-parallel-size 2 \
  --max-num-seqs "${MAX_NUM_SEQS}" \
  --max-cudagraph-capture-size "${MAX_NUM_SEQS:-6}" \
  --speculative-config '{"method":"dspark","num_speculative_tokens":3}'
