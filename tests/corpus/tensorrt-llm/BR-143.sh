#!/bin/bash
cat > config.yaml <<'EOF'
enable_attention_dp: false
speculative_config:
  decoding_type: Eagle
  max_draft_len: 3
  speculative_model_dir: AQ-MedAI/Qwen3.5-397B-A17B-eagle3
  eagle3_one_model: true
EOF
trtllm-serve Qwen/Qwen3.5-397B-A17B --tp_size 8 --extra_llm_api_options config.yaml
