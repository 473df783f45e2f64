#!/bin/bash
export SGLANG_ENABLE_SPEC_V2=1
python -m sglang.launch_server --model openai/gpt-oss-120b --tp 8 \
  --attention-backend triton \
  --speculative-algorithm EAGLE3 \
  --speculative-draft-model-path lmsys/EAGLE3-gpt-oss-120b-bf16 \
  --speculative-num-steps 5 --speculative-eagle-topk 1 --speculative-num-draft-tokens 6
