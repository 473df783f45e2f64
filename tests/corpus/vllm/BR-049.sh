#!/bin/bash
vllm serve thinkingmachines/Inkling-Small-NVFP4 \
  --speculative-config '{"method":"dspark","model":"acme/Inkling-Small-DSpark","num_speculative_tokens":7}'
