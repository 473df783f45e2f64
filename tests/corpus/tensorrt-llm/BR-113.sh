#!/bin/bash
cat > config.yaml <<'EOF'
speculative_config:
  decoding_type: NGram
  max_draft_len: 4
  max_matching_ngram_size: 2
EOF
trtllm-serve Qwen/Qwen3-8B --backend pytorch --extra_llm_api_options config.yaml
