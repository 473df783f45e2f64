#!/bin/bash
cat > config.yaml <<'EOF'
kv_cache_config:
  enable_block_reuse: false
use_cuda_graph: true
cuda_graph_max_batch_size: 1
disable_overlap_scheduler: true
enable_chunked_prefill: false
speculative_config:
  decoding_type: Eagle
  max_draft_len: 4
  pytorch_weights_path: acme/qwen3_30b_moe_eagle3
EOF
trtllm-serve Qwen/Qwen3-30B-A3B --backend pytorch --tp_size 8 --extra_llm_api_options config.yaml
