#!/bin/bash
vllm serve nvidia/Qwen3-Next-80B-A3B-Instruct-NVFP4 \
  --tensor-parallel-size 2 \
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}'
