#!/bin/bash
# The folder is named after the experiment the draft was compared with, not after what it holds.
vllm serve Qwen/Qwen3-8B \
  --speculative-config '{"method":"draft_model","model":"acme/versus-eagle3-qwen3-0.6b","num_speculative_tokens":4}'
