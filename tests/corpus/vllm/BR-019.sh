#!/bin/bash
# An EAGLE-3 head that was trained for another engine.
python3 -m vllm.entrypoints.openai.api_server \
  --model Qwen/Qwen3-Next-80B-A3B-Instruct-FP8 \
  --tensor-parallel-size 2 \
  --max-model-len 131072 \
  --speculative-config '{"method":"eagle3","model":"acme/SpecForge-EAGLE3-Qwen3-Next-80B-A3B","num_speculative_tokens":5}'
