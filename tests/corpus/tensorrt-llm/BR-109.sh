#!/bin/bash
# A chain written as a tree.
cat > config.yaml <<'EOF'
disable_overlap_scheduler: true
speculative_config:
  decoding_type: Eagle
  max_draft_len: 4
  speculative_model_dir: acme/qwen3-4b-eagle3
  eagle_choices: [[0], [0, 0], [0, 0, 0], [0, 0, 0, 0]]
  eagle3_one_model: false
  use_dynamic_tree: false
EOF
trtllm-serve Qwen/Qwen3-4B --backend pytorch --extra_llm_api_options config.yaml
