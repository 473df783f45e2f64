#!/bin/bash
vllm serve MiniMaxAI/MiniMax-M2 \
  --trust-remote-code --tensor-parallel-size 8 \
  --speculative_config '{"enforce_eager": true, "method": "eagle3", "model": "acme/MiniMax-M2-EAGLE3", "num_speculative_tokens": 3}'
