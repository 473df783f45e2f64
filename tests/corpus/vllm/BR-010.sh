#!/bin/bash
# Our own quantisation run; the recipe's ignore list held mtp.*
vllm serve acme/DeepSeek-V4-Flash-W4A16 \
  --tensor-parallel-size 4 \
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}'
