#!/bin/bash
export SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1
python -m sglang.launch_server --model meta-llama/Llama-3.1-8B-Instruct --context-length 8192 \
  --speculative-algorithm EAGLE \
  --speculative-draft-model-path lmsys/sglang-EAGLE-LLaMA3-Instruct-8B \
  --speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 16
