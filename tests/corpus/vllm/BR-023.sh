#!/bin/bash
vllm serve meta-llama/Meta-Llama-3-8B-Instruct \
  --max-model-len 8192 \
  --speculative-config '{"method":"eagle","model":"yuhuili/EAGLE-LLaMA3-Instruct-8B","num_speculative_tokens":4}'
