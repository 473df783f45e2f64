#!/bin/bash
# Taken from the documentation of the release before.
python -m vllm.entrypoints.openai.api_server \
  --model facebook/opt-6.7b \
  -tp 1 --gpu_memory_utilization 0.8 \
  --speculative_config '{"model":"facebook/opt-125m","num_speculative_tokens":5}'
