#!/bin/bash
# Copied from an example for DeepSeek.
cat > config.yaml <<'EOF'
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 1
EOF
trtllm-serve meta-llama/Llama-4-Maverick-17B-128E-Instruct --backend pytorch --tp_size 8 --extra_llm_api_options config.yaml
