#!/bin/bash
# The two roles of a disaggregated deployment, one command each.
vllm serve Qwen/Qwen3.5-397B-A17B \
  --port 8100 --tensor-parallel-size 8 \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}' \
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}' &
vllm serve Qwen/Qwen3.5-397B-A17B \
  --port 8200 --tensor-parallel-size 8 \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}' \
  --speculative-config '{"method":"mtp","num_speculative_tokens":3}' &
wait
