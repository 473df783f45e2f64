#!/bin/bash
SPEC_TOKENS=2
VLLM_ARGS=(serve acme/Qwen3.8-Flash-Next --max-model-len 65536)
VLLM_ARGS+=("--speculative-config" "$(printf "'{\"method\":\"mtp\",\"num_speculative_tokens\":%s}'" "$SPEC_TOKENS")")
exec vllm "${VLLM_ARGS[@]}"
