#!/bin/bash
python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct \
  --speculative-algorithm EAGLE \
  --speculative-draft-model-path acme/EAGLE-Llama-3.1-8B \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 8
