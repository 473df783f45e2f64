#!/bin/bash
sglang serve --model-path deepseek-ai/DeepSeek-V4-Flash \
  --tp 8 --dp 8 --enable-dp-attention --attention-backend dsv4 \
  --speculative-algorithm EAGLE \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
