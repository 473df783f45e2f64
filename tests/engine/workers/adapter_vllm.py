"""vLLM: the whole `vllm serve` command line, then the engine config, on its CPU platform."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
from typing import Any

from protocol import HarnessError

SPECULATION = "speculative_config"
SHOWN = {  # config object → fields worth comparing
    "scheduler_config": ("max_num_seqs", "max_num_batched_tokens", "async_scheduling", "enable_chunked_prefill"),
    "parallel_config": ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"),
    "model_config": ("max_model_len", "enforce_eager"),
    "cache_config": ("gpu_memory_utilization", "enable_prefix_caching", "cache_dtype"),
}


class Adapter:
    """Builds the parser as the `vllm` program does and turns its namespace into an engine config."""

    package = "vllm"

    def __init__(self) -> None:
        for name, value in {
            "VLLM_NO_USAGE_STATS": "1",
            "VLLM_CONFIGURE_LOGGING": "0",
            "VLLM_CPU_KVCACHE_SPACE": "1",
        }.items():
            os.environ.setdefault(name, value)
        import vllm

        self.version: str = vllm.__version__

    def warm(self) -> None:
        self.parser()

    def standins(self) -> list[str]:
        return []

    def _flexible(self) -> type[argparse.ArgumentParser]:
        for module in ("vllm.utils.argparse_utils", "vllm.utils"):
            try:
                return importlib.import_module(module).FlexibleArgumentParser
            except (ModuleNotFoundError, AttributeError):
                continue
        raise HarnessError("this release keeps FlexibleArgumentParser elsewhere")

    def parser(self) -> argparse.ArgumentParser:
        """The parser of `vllm serve`."""
        return self._program()[1]

    def _program(self) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser, Any]:
        serve = importlib.import_module("vllm.entrypoints.cli.serve")
        program = self._flexible()(description="vLLM CLI")
        subparsers = program.add_subparsers(required=False, dest="subparser")
        command = serve.cmd_init()[0]
        return program, command.subparser_init(subparsers), command

    def _server_parser(self) -> argparse.ArgumentParser:
        """The parser of the server alone, which `python -m vllm.entrypoints.openai.api_server` uses."""
        serve = importlib.import_module("vllm.entrypoints.cli.serve")
        return serve.make_arg_parser(self._flexible()())

    def parse(self, argv: list[str]) -> argparse.Namespace:
        """The namespace of `vllm serve …` or `python -m vllm.entrypoints.openai.api_server …`."""
        if "-m" in argv[:6]:
            return self._server_parser().parse_args(argv[argv.index("-m") + 2 :])
        program, _, command = self._program()
        args = program.parse_args(argv[1:])
        command.validate(args)
        if getattr(args, "model_tag", None) is not None:
            args.model = args.model_tag
        return args

    def changed(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """The values that differ from the parser's defaults."""
        parser = self._server_parser()
        return {
            name: value
            for name, value in vars(parsed).items()
            if name not in {"subparser", "dispatch_function"} and value != parser.get_default(name)
        }

    def configure(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """The engine config in force, the parts that bear on speculation."""
        arguments = importlib.import_module("vllm.engine.arg_utils").AsyncEngineArgs.from_cli_args(parsed)
        usage = importlib.import_module("vllm.usage.usage_lib").UsageContext.OPENAI_API_SERVER
        config = arguments.create_engine_config(usage_context=usage)
        found = {
            f"{part}.{field}": getattr(getattr(config, part), field)
            for part, fields in SHOWN.items()
            for field in fields
            if hasattr(getattr(config, part), field)
        }
        return found | self._speculation(config.speculative_config)

    def _speculation(self, speculative: Any) -> dict[str, Any]:
        if speculative is None:
            return {SPECULATION: None}
        found = {}
        for field in dataclasses.fields(speculative):
            value = getattr(speculative, field.name, None)
            if value is None or isinstance(value, bool | int | float | str | list | dict):
                found[f"{SPECULATION}.{field.name}"] = value
        draft = getattr(speculative, "draft_model_config", None)
        return found | {f"{SPECULATION}.architectures": getattr(draft, "architectures", None)}
