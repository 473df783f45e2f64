#!/bin/bash
cat > config.yaml <<'EOF'
cuda_graph_config:
  enable_padding: true
  max_batch_size: 128
moe_config:
  backend: TRTLLM
enable_chunked_prefill: true
speculative_config:
  decoding_type: AUTO
EOF
trtllm-serve openai/gpt-oss-120b --backend pytorch --tp_size 1 --ep_size 1 \
  --kv_cache_free_gpu_memory_fraction 0.75 --extra_llm_api_options config.yaml
