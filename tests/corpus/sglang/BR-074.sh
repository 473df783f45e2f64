#!/bin/bash
python -m sglang.launch_server --model Qwen/QwQ-32B --tensor-parallel-size 2 \
  --speculative-algorithm EAGLE \
  --speculative-draft-model-path acme/EAGLE-QwQ-32B \
  --speculative-num-steps 3 --speculative-eagle-topk 2 --speculative-num-draft-tokens 8 \
  --cuda-graph-max-bs 8 --enable-torch-compile --mem-fraction-static 0.8 --max-running-requests 100
