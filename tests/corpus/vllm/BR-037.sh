#!/bin/bash
# The library call LLM(...) of the report as a server.
vllm serve meta-llama/Llama-3.1-8B-Instruct \
  --tensor-parallel-size 4 \
  --speculative-config '{"method":"eagle3","model":"yuhuili/EAGLE3-LLaMA3.1-Instruct-8B","draft_tensor_parallel_size":1,"num_speculative_tokens":3}'
