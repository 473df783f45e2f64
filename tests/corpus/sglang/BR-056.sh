#!/bin/bash
python -m sglang.launch_server --model-path Qwen/Qwen3-8B \
  --reasoning-parser qwen3 --grammar-backend outlines \
  --speculative-algorithm EAGLE3 \
  --speculative-draft-model-path acme/qwen3-8b-eagle3 \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
