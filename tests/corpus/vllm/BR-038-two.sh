#!/bin/bash
# Neither 1 nor the target's width.
vllm serve Qwen/Qwen2.5-72B-Instruct-AWQ \
  --tensor-parallel-size 4 \
  --speculative-model Qwen/Qwen2.5-14B-Instruct-AWQ \
  --num-speculative-tokens 3 \
  --speculative-draft-tensor-parallel-size 2
