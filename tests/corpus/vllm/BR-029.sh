#!/bin/bash
vllm serve acme/Qwen3.6-35B-A3B-AWQ \
  --tensor-parallel-size 2 \
  --gpu-memory-utilization 0.80 --max-num-seqs 2 \
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}'
