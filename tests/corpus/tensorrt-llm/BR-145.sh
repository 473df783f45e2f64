#!/bin/bash
cat > config.yaml <<'EOF'
kv_cache_config:
  use_kv_cache_manager_v2: true
  free_gpu_memory_fraction: 0.9
speculative_config:
  decoding_type: Eagle
  max_draft_len: 3
  speculative_model_dir: acme/Llama-3.1-8B-Instruct-EAGLE3
EOF
trtllm-serve meta-llama/Llama-3.1-8B-Instruct --extra_llm_api_options config.yaml
