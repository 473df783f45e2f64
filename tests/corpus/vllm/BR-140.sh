#!/bin/bash
# The container's args of the report as a command.
vllm serve openai/gpt-oss-120b \
  --tensor-parallel 2 \
  --gpu-memory-utilization 0.92 \
  --max-model-len 65536 \
  --tool-call-parser openai --reasoning-parser openai_gptoss \
  --speculative-config '{"model":"nvidia/gpt-oss-120b-Eagle3","num_speculative_tokens":3,"method":"eagle3","draft_tensor_parallel_size":1}'
