#!/bin/bash
cat > config.yaml <<'EOF'
use_cuda_graph: true
cuda_graph_batch_sizes: [1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 196]
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 3
EOF
trtllm-serve deepseek-ai/DeepSeek-R1 --backend pytorch --tp_size 8 --ep_size 8 \
  --max_batch_size 196 --max_num_tokens 65536 --kv_cache_free_gpu_memory_fraction 0.6 --extra_llm_api_options config.yaml
