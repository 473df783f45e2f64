#!/bin/bash
python -m vllm.entrypoints.openai.api_server \
  --model meta-llama/Llama-2-13b-chat-hf \
  --use-v2-block-manager \
  --speculative-model ibm-fms/llama-13b-accelerator \
  --num-speculative-tokens 4
