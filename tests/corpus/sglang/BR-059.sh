#!/bin/bash
python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1-0528 \
  --nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000 --trust-remote-code \
  --tp-size 16 --dp-size 8 --enable-dp-attention \
  --mem-fraction-static 0.8 --max-running-requests 8 --attention-backend flashinfer \
  --speculative-algorithm EAGLE \
  --speculative-num-steps 1 --speculative-eagle-topk 1 --speculative-num-draft-tokens 2
