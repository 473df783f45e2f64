#!/bin/bash
# A recipe's command line before its template engine has run.
vllm serve deepseek-ai/DeepSeek-V4-Flash \
  --tensor-parallel-size 2 \
  --speculative-config '{{"method":"mtp","num_speculative_tokens":{num_speculative_tokens}}}'
