#!/bin/bash
cat > config.yaml <<'EOF'
speculative_config:
  decoding_type: Eagle
  max_draft_len: 3
  speculative_model: acme/Llama-3.1-8B-Instruct-EAGLE3
EOF
trtllm-serve meta-llama/Llama-3.1-8B-Instruct --backend pytorch --extra_llm_api_options config.yaml
