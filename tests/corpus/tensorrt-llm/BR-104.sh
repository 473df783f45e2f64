#!/bin/bash
cat > config.yaml <<'EOF'
pytorch_backend_config:
  enable_overlap_scheduler: true
  use_cuda_graph: true
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 1
EOF
trtllm-serve deepseek-ai/DeepSeek-R1 --backend pytorch --tp_size 8 --extra_llm_api_options config.yaml
