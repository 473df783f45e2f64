#!/bin/bash
# Requests come with guided_json.
python -m vllm.entrypoints.openai.api_server \
  --model Qwen/Qwen2-72B-Instruct-GPTQ-Int4 \
  --tensor-parallel-size 2 \
  --enable-prefix-caching --enable-chunked-prefill \
  --speculative-model Qwen/Qwen2-7B-Instruct-GPTQ-Int4 \
  --num-speculative-tokens 3 \
  --speculative-disable-by-batch-size 10
