#!/bin/bash
# The command of the compose file, as the shell in the container is given it.
bash -c -i "vllm serve openai/gpt-oss-120b --cc '{"mode": "3"}' --gpu-memory-utilization 0.7"
