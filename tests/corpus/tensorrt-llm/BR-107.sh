#!/bin/bash
# A head of the first generation, under the name that means the third.
cat > config.yaml <<'EOF'
speculative_config:
  decoding_type: Eagle
  max_draft_len: 3
  speculative_model: yuhuili/EAGLE-LLaMA3-Instruct-8B
EOF
trtllm-serve meta-llama/Meta-Llama-3-8B-Instruct --backend pytorch --extra_llm_api_options config.yaml
