#!/bin/bash
# Six users at a time, six draft tokens each: 6 x 7 = 42 tokens in the verification step.
vllm serve Qwen/Qwen3.5-122B-A10B \
  --tensor-parallel-size 2 \
  --max-num-seqs 6 \
  --max-cudagraph-capture-size 42 \
  --speculative-config '{"method":"mtp","num_speculative_tokens":6}'
