#!/bin/bash
# Two nodes of eight: tensor parallel inside a node, pipeline between them.
vllm serve deepseek-ai/DeepSeek-R1 \
  --trust-remote-code \
  --tensor-parallel-size 8 --pipeline-parallel-size 2 \
  --quantization fp8 \
  --max-model-len 32768 \
  --num-speculative-tokens 1
