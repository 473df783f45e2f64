#!/bin/bash
cat > config.yaml <<'EOF'
lora_config:
  lora_dir: [acme/qwen3-8b-lora]
  max_lora_rank: 16
speculative_config:
  decoding_type: NGram
  max_draft_len: 4
  max_matching_ngram_size: 2
EOF
trtllm-serve Qwen/Qwen3-8B --backend pytorch --extra_llm_api_options config.yaml
