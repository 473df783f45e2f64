#!/bin/bash
python -m sglang.launch_server --model-path Qwen/Qwen3-8B \
  --speculative-algorithm DFLASH \
  --speculative-draft-model-path acme/Qwen3-8B-DFlash \
  --speculative-dflash-draft-window-size 4096
