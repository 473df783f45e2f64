#!/bin/bash
cat > config.yaml <<'EOF'
disable_overlap_scheduler: true
EOF
trtllm-serve deepseek-ai/DeepSeek-R1-Distill-Qwen-32B --backend pytorch --tp_size 4 --extra_llm_api_options config.yaml
