#!/bin/bash
python -m sglang.launch_server --model-path zai-org/GLM-5.1-FP8 --tp 8 --pp-size 2 \
  --nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000 \
  --speculative-algorithm EAGLE \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
