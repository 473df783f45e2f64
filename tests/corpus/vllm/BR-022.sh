#!/bin/bash
# Four times the native window by YaRN.
vllm serve XiaomiMiMo/MiMo-7B-RL \
  --trust-remote-code \
  --max-model-len 131072 \
  --hf-overrides '{"rope_scaling":{"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":32768},"max_position_embeddings":131072}' \
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}'
