#!/bin/bash
python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 \
  --tp 16 --nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000 --trust-remote-code \
  --enable-dp-attention --dp 4 --disable-radix-cache \
  --speculative-algo NEXTN --speculative-draft acme/DeepSeek-R1-NextN \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
