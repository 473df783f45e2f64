#!/bin/bash
# On Blackwell, where the engine takes flashinfer by itself.
python -m sglang.launch_server --model deepseek-ai/DeepSeek-V3.1 --tp 8 --trust-remote-code \
  --speculative-algorithm EAGLE --page-size 64
