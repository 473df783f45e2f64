#!/bin/bash
# Its clients ask for logprobs.
cat > config.yaml <<'EOF'
speculative_config:
  decoding_type: Eagle3
  max_draft_len: 3
  speculative_model: acme/Llama-3.1-8B-Instruct-EAGLE3
EOF
trtllm-serve meta-llama/Llama-3.1-8B-Instruct --extra_llm_api_options config.yaml
