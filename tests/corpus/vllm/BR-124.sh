#!/bin/bash
# What a chart rendered without quoting makes of its args: the inner double quotes end the outer ones.
exec vllm serve zai-org/GLM-5.1-FP8 \
  --tensor-parallel-size 8 \
  "--speculative-config" "{"method":"mtp","num_speculative_tokens":1}"
