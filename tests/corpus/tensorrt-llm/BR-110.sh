#!/bin/bash
cat > config.yaml <<'EOF'
speculative_config:
  decoding_type: Eagle
  max_draft_len: 3
  speculative_model_dir: acme/mistral-7b-eagle3
  eagle3_one_model: true
EOF
trtllm-serve mistralai/Mistral-7B-Instruct-v0.3 --backend pytorch --extra_llm_api_options config.yaml
