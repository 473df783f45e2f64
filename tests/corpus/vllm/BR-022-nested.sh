#!/bin/bash
# A multimodal config keeps its rope in the text part.
vllm serve Qwen/Qwen3.5-27B \
  --max-model-len 1010000 \
  --hf-overrides '{"text_config":{"rope_parameters":{"rope_type":"yarn","rope_theta":10000000,"factor":4.0,"original_max_position_embeddings":262144},"max_position_embeddings":1048576}}' \
  --speculative-config '{"method":"mtp","num_speculative_tokens":2}'
