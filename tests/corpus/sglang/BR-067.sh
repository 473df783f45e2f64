#!/bin/bash
python -m sglang.launch_server --model-path Qwen/Qwen3-30B-A3B \
  --attention-backend fa3 \
  --speculative-algorithm EAGLE3 \
  --speculative-draft-model-path AngelSlim/Qwen3-a3B_eagle3 \
  --speculative-num-steps 6 --speculative-eagle-topk 10 --speculative-num-draft-tokens 32
