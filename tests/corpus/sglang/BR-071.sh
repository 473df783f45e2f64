#!/bin/bash
# A target in AWQ whose head is plain bfloat16.
python -m sglang.launch_server --model acme/Llama-3.1-8B-Instruct-AWQ --quantization awq \
  --speculative-algorithm EAGLE3 \
  --speculative-draft-model-path acme/Llama-3.1-8B-Instruct-EAGLE3 \
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
