"""Reading the options of a TensorRT-LLM release out of its own sources. Nothing of the release is imported or run."""
