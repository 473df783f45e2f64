#!/bin/bash
# Another checkpoint of the family as a plain draft model: its model type is one with MTP layers.
vllm serve XiaomiMiMo/MiMo-7B-RL \
  --trust-remote-code \
  --speculative-config '{"method":"draft_model","model":"XiaomiMiMo/MiMo-7B-Base","num_speculative_tokens":1}'
