# /// script
# dependencies = ["vllm==0.33.0", "arctic-inference==0.1.1"]
# ///
"""Offline run with suffix decoding."""

from vllm import LLM, SamplingParams

K = 16

llm = LLM(
    model="Qwen/Qwen3-Coder-30B-A3B-Instruct",
    tensor_parallel_size=2,
    speculative_config={
        "method": "suffix",
        "num_speculative_tokens": K,
        "suffix_decoding_max_tree_depth": 24,
    },
)
print(llm.generate(["def quicksort("], SamplingParams(temperature=0.0, max_tokens=64)))
