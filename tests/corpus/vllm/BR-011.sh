#!/bin/bash
vllm serve cognitivecomputations/DeepSeek-R1-AWQ \
  --trust-remote-code -tp 8 --dtype float16 \
  --enable-chunked-prefill --enable-prefix-caching \
  --max-model-len 131072 \
  --num-speculative-tokens 1
