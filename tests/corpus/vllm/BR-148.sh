#!/bin/bash
docker run -d --gpus all --shm-size 32g -p 8000:8000 acme/vllm-backport:latest \
  vllm serve acme/DeepSeek-V4-Flash-0731 \
  --tensor-parallel-size 4 --max-model-len 204800 \
  --gpu-memory-utilization 0.98 --kv-cache-dtype fp8_ds_mla \
  --speculative-config {"method":"dspark","num_speculative_tokens":3}
