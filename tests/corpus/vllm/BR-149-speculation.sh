#!/bin/bash
# The same shape around the speculation.
bash -c -i "vllm serve openai/gpt-oss-120b --speculative-config '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4}' --gpu-memory-utilization 0.7"
