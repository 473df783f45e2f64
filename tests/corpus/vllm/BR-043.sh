#!/bin/bash
# The library call LLM(...) of the report as a server.
vllm serve meta-llama/Llama-2-7b-hf \
  --enable-lora \
  --lora-modules sql=acme/llama-2-7b-sql-lora \
  --speculative-config '{"method":"ngram","num_speculative_tokens":5,"prompt_lookup_max":4}'
