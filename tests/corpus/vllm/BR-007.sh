#!/bin/bash
vllm serve lukealonso/GLM-5-NVFP4 \
  -tp 4 -ep \
  --kv-cache-dtype fp8_ds_mla \
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}'
