#!/bin/bash
docker run --rm --gpus all -p 8000:8000 -e HF_HOME=/models -v models:/models \
  vllm/vllm-openai:v0.25.1 \
  google/gemma-4-26B-A4B-it \
  --quantization fp8 --kv-cache-dtype fp8 \
  --max-model-len 262144 \
  --speculative-config '{"model":"google/gemma-4-26B-A4B-it-assistant","num_speculative_tokens":4}'
