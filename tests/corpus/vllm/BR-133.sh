#!/bin/bash
vllm serve Qwen/Qwen3-8B \
  --speculative-config '{"model":"Qwen/Qwen3-0.6B"}'
