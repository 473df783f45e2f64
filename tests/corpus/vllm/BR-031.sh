#!/bin/bash
docker run --gpus all --ipc=host -p 8000:8000 \
  vllm/vllm-openai:v0.26.0 \
  --model nvidia/Kimi-K2.6-NVFP4 \
  --trust-remote-code \
  --tensor-parallel-size 4 \
  --kv-cache-dtype fp8 \
  --attention-backend TOKENSPEED_MLA \
  --compilation-config '{"cudagraph_mode":"FULL_AND_PIECEWISE"}' \
  --enable-auto-tool-choice --tool-call-parser kimi_k2 \
  --speculative-config '{"method":"eagle3","model":"lightseekorg/kimi-k2.6-eagle3-mla","num_speculative_tokens":4}'
