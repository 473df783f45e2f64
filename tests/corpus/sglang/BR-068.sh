#!/bin/bash
python -m sglang.launch_server --model acme/Llama-70B --tp 8 \
  --speculative-algorithm EAGLE \
  --speculative-draft-model-path acme/EAGLE-Llama-70B \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4 \
  --mem-fraction-static 0.5
