#!/bin/bash
# The same after the template engine has taken the doubled braces and left the placeholder.
vllm serve deepseek-ai/DeepSeek-V4-Flash \
  --tensor-parallel-size 2 \
  --speculative-config '{"method":"mtp","num_speculative_tokens":{num_speculative_tokens}}'
