#!/bin/bash
# With the option that this release has.
bash -c -i "vllm serve openai/gpt-oss-120b -cc '{"mode": "3"}' --gpu-memory-utilization 0.7"
