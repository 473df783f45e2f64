#!/bin/bash
python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct \
  --enable-hierarchical-cache \
  --speculative-algorithm EAGLE3 \
  --speculative-draft-model-path lmsys/sglang-EAGLE3-LLaMA3.1-Instruct-8B \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
