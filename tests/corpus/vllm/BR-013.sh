#!/bin/bash
vllm serve DevQuasar/Qwen.Qwen3-Next-80B-A3B-Instruct-FP8-Dynamic \
  --tensor-parallel-size 4 \
  --speculative-config '{"method":"qwen3_next_mtp","num_speculative_tokens":2}'
