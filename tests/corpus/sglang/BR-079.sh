#!/bin/bash
python -m sglang.launch_server --model meta-llama/Meta-Llama-3.1-8B-Instruct \
  --speculative-algorithm EAGLE \
  --speculative-draft-model-path lmsys/sglang-EAGLE-LLaMA3-Instruct-8B \
  --speculative-num-steps 5 --speculative-eagle-topk 8 --speculative-num-draft-tokens 64 \
  --context-length 2048
