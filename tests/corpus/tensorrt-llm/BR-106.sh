#!/bin/bash
cat > config.yaml <<'EOF'
speculative_config:
  decoding_type: MTP
  use_mtp_vanilla: true
  max_draft_len: 3
EOF
trtllm-serve acme/DeepSeek-V3-Lite --extra_llm_api_options config.yaml
