#!/bin/bash
python -m sglang.launch_server --model-path zai-org/GLM-4.5-Air-FP8 --tp-size 8 \
  --mem-fraction-static 0.7 --context-length 24000 --max-running-requests 512 \
  --cuda-graph-max-bs 64 --chunked-prefill-size 12000 \
  --speculative-algorithm EAGLE \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
