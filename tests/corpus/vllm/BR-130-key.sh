#!/bin/bash
# With the option mended too, a key is left that is misspelt.
vllm serve acme/Qwen3.6-27B-w8a8 \
  --tensor-parallel-size 2 \
  --speculative-config '{"method":"eagle3","model":"acme/PRISM-Qwen3.6-27B-EAGLE3","enforce_eager":true,"num_speculative_tokrns":5}'
