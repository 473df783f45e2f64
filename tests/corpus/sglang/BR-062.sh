#!/bin/bash
# Kimi with an EAGLE-3 head, but the older word for the algorithm.
python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp 8 \
  --speculative-algorithm EAGLE \
  --speculative-draft-model-path lightseekorg/kimi-k2.5-eagle3 \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
