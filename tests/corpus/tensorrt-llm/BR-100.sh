#!/bin/bash
cat > config.yaml <<'EOF'
speculative_config:
  decoding_type: Eagle
  max_draft_len: 3
  speculative_model_dir: nvidia/gpt-oss-120b-Eagle3
EOF
trtllm-serve openai/gpt-oss-120b --host 0.0.0.0 --port 8000 --extra_llm_api_options config.yaml
