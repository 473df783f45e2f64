#!/bin/bash
python -m sglang.launch_server --model Qwen/Qwen2-7B-Instruct \
  --speculative-algo EAGLE --speculative-draft yuhuili/EAGLE-Qwen2-7B-Instruct \
  --speculative-num-steps 5 --speculative-eagle-topk 8 --speculative-num-draft-tokens 64 \
  --mem-fraction 0.7
