"""A package with the entry points of TensorRT-LLM's command that the adapter uses, written for these tests.

Two generations: `OLD` builds its arguments with `from_kwargs` and takes options straight into the LLM class; `NEW` binds a
port first, builds them with the class, and has subcommands that start other things.
"""

from __future__ import annotations

_SERVE = """
    import socket
    import click
    import yaml
    from torch_like import device_count
    from tensorrt_llm.llmapi.llm import LLM as PyTorchLLM
    {imports}

    def launch_server(host, port, llm_args):
        {bind}
        if llm_args["backend"] == "pytorch":
            llm = PyTorchLLM(**llm_args)
        else:
            raise click.BadParameter(f"{{llm_args['backend']}} is not a known backend", param_hint="backend")
        raise RuntimeError("an engine was started")

    @click.command("serve")
    @click.argument("model")
    @click.option("--host", default="localhost")
    @click.option("--port", type=int, default=8000)
    @click.option("--backend", default="pytorch")
    @click.option("--max_batch_size", type=int, default=2048)
    @click.option("--max_seq_len", type=int, default=None)
    @click.option("--grpc", is_flag=True)
    @click.option({config}, "extra", default=None)
    def serve(model, host, port, backend, max_batch_size, max_seq_len, grpc, extra):
        if device_count() == 0:
            raise ValueError("No GPU devices found on the node")
        llm_args = dict(model=model, backend=backend, max_batch_size=max_batch_size, max_seq_len=max_seq_len)
        if extra is not None:
            with open(extra) as stream:
                llm_args |= yaml.safe_load(stream)
        if grpc:
            return
        launch_server(host, port, llm_args)

    @click.command("disaggregated")
    def disaggregated():
        pass

    class DefaultGroup(click.Group):
        def resolve_command(self, ctx, args):
            if args and args[0] not in self.commands:
                return "serve", serve, args
            return super().resolve_command(ctx, args)

    main = DefaultGroup(commands={{"serve": serve, "disaggregated": disaggregated}})
"""

_ARGS = """
    from typing import ClassVar, Optional
    from pydantic import BaseModel, model_validator

    class SpeculativeConfig(BaseModel, extra="forbid"):
        {tag}
        max_draft_len: Optional[int] = None
        speculative_model: Optional[str] = None
        speculative_model_dir: Optional[str] = None
        allow_advanced_sampling: bool = False

        @model_validator(mode="before")
        @classmethod
        def old_tag(cls, data):
            return {strip}

        @model_validator(mode="after")
        def positive(self):
            if self.max_draft_len is not None and self.max_draft_len > 7:
                raise ValueError("max_draft_len is too large")
            return self

    class TorchLlmArgs(BaseModel, extra="forbid"):
        model: str
        backend: str = "pytorch"
        max_batch_size: int = 2048
        max_seq_len: Optional[int] = None
        max_num_tokens: int = 8192
        speculative_config: Optional[SpeculativeConfig] = None

        @classmethod
        def from_kwargs(cls, **kwargs):
            return cls(**kwargs)
"""

_LLM = """
    from tensorrt_llm.llmapi.llm_args import TorchLlmArgs

    class {base}:
        def __init__(self, model, **kwargs):
            self._executor = None
            try:
                self.args = {build}(model=model, **kwargs)
            except Exception as error:
                print("Failed to parse the arguments", error)
                raise error
            raise RuntimeError("an engine was started")

    {alias}
"""

_COMMON = {
    "tensorrt_llm/commands/__init__.py": "",
    "tensorrt_llm/llmapi/__init__.py": "",
    "torch_like.py": """
        import os

        def device_count():
            return int(os.environ.get("PRETENDED_GPUS", "8"))
    """,
}
OLD = {
    **_COMMON,
    "tensorrt_llm/__init__.py": "__version__ = '1.2.1'",
    "tensorrt_llm/commands/serve.py": _SERVE.format(imports="", bind="pass", config='"--extra_llm_api_options"'),
    "tensorrt_llm/llmapi/llm_args.py": _ARGS.format(
        tag='decoding_type: ClassVar[str] = "Eagle"',
        strip="{name: value for name, value in data.items() if name != 'decoding_type'}",
    ),
    "tensorrt_llm/llmapi/llm.py": _LLM.format(base="LLM", build="TorchLlmArgs.from_kwargs", alias=""),
}
NEW = {
    **_COMMON,
    "tensorrt_llm/__init__.py": "__version__ = '1.4.0rc1'",
    "tensorrt_llm/commands/serve.py": _SERVE.format(
        imports="",
        bind="""with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
            try:
                taken.bind((host, port))
                port = port or taken.getsockname()[1]
            except OSError as error:
                raise RuntimeError(f"Failed to bind socket to {host}:{port}: {error}")""",
        config='"--config", "--extra_llm_api_options"',
    ),
    "tensorrt_llm/llmapi/llm_args.py": _ARGS.format(tag='decoding_type: str = "Eagle3"', strip="data"),
    "tensorrt_llm/llmapi/llm.py": _LLM.format(
        base="BaseLLM", build="TorchLlmArgs", alias="class LLM(BaseLLM):\n        pass"
    ),
}
