#!/bin/bash
python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8 --trust-remote-code \
  --speculative-algo NEXTN --speculative-draft acme/DeepSeek-R1-NextN \
  --speculative-num-steps 2 --speculative-eagle-topk 4 --speculative-num-draft-tokens 4 \
  --mem-fraction-static 0.7
