#!/bin/bash
# A test's server arguments as a launch: braces doubled, another option's name, a key misspelt.
vllm serve acme/Qwen3.6-27B-w8a8 \
  --tensor-parallel-size 2 \
  --additional-config '{{"method":"eagle3","model":"acme/PRISM-Qwen3.6-27B-EAGLE3","enforce_eager":true,"num_speculative_tokrns":5}}'
