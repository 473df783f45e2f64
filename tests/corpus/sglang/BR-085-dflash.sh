#!/bin/bash
export SGLANG_ENABLE_PP_SPEC=1
python -m sglang.launch_server --model-path Qwen/Qwen3-8B --pp-size 2 \
  --speculative-algorithm DFLASH \
  --speculative-draft-model-path acme/Qwen3-8B-DFlash
