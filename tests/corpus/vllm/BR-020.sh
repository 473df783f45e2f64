#!/bin/bash
# The library call LLM(...) of the report as a server.
vllm serve Qwen/Qwen3-4B \
  --tensor-parallel-size 2 --gpu-memory-utilization 0.95 \
  --speculative-config '{"method":"eagle","model":"AngelSlim/Qwen3-4B_eagle3","num_speculative_tokens":2,"max_model_len":512}'
