#!/bin/bash
docker run --gpus all lmsysorg/sglang:v0.4.5.post3-cu125 \
  python3 -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct \
  --speculative-algorithm EAGLE \
  --speculative-draft-model-path acme/EAGLE-Llama-3.1-8B
