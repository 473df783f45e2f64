#!/bin/bash
# Two 24 GB cards; set SPEC_N to 0 to switch speculation off.
SPEC_N=5
vllm serve acme/Qwen3.6-27B-W4A8 \
  --tensor-parallel-size 2 \
  --enable-prefix-caching \
  --speculative-config "{\"method\":\"mtp\",\"num_speculative_tokens\":$SPEC_N}"
