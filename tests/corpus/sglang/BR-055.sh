#!/bin/bash
# The decode side of a split deployment; its clients ask for JSON by a schema.
export SGLANG_ENABLE_SPEC_V2=1
python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.2 \
  --disaggregation-mode decode --tp 8 \
  --speculative-algorithm EAGLE \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
