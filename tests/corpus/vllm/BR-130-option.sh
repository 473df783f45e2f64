#!/bin/bash
# With the braces mended, the speculation still stands in an option that does not read it.
vllm serve acme/Qwen3.6-27B-w8a8 \
  --tensor-parallel-size 2 \
  --additional-config '{"method":"eagle3","model":"acme/PRISM-Qwen3.6-27B-EAGLE3","enforce_eager":true,"num_speculative_tokrns":5}'
