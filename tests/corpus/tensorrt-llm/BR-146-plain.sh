#!/bin/bash
cat > config.yaml <<'EOF'
cuda_graph_config:
  enable_padding: false
  max_batch_size: 64
kv_cache_config:
  use_kv_cache_manager_v2: false
speculative_config:
  decoding_type: Eagle3
  max_draft_len: 3
  speculative_model: acme/Llama-3.1-8B-Instruct-EAGLE3
EOF
trtllm-serve meta-llama/Llama-3.1-8B-Instruct --extra_llm_api_options config.yaml
