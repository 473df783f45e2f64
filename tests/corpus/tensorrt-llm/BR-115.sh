#!/bin/bash
cat > config.yaml <<'EOF'
enable_attention_dp: true
kv_cache_config:
  tokens_per_block: 128
  dtype: fp8
  free_gpu_memory_fraction: 0.9
cuda_graph_config:
  enable_padding: true
speculative_config:
  decoding_type: MTP
  max_draft_len: 1
EOF
trtllm-serve deepseek-ai/DeepSeek-V4-Flash --tp_size 4 --ep_size 4 --extra_llm_api_options config.yaml
