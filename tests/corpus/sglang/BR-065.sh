#!/bin/bash
python -m sglang.launch_server --model google/gemma-2-9b \
  --speculative-algorithm STANDALONE \
  --speculative-draft-model-path bigcode/tiny_starcoder_py \
  --speculative-num-steps 4 --speculative-eagle-topk 1 --speculative-num-draft-tokens 5
