"""SGLang: `prepare_server_args`, resolution and `check_server_args`, as on a machine with one kind of GPU."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
from typing import Any

from specconf.engines.sglang.oracle import facade
from specconf.oracle.worker import standin
from specconf.oracle.worker.protocol import HarnessError

# Packages with kernels, or for a GPU: answered by stand-ins where they are absent.
ABSENT = (
    "IPython triton sgl_kernel flashinfer sgl_deep_gemm deep_gemm deep_ep cuda tvm_ffi xgrammar outlines llguidance "
    "torchao torchvision decord soundfile cutlass torch_memory_saver compressed_tensors flash_attn gguf sgl_flash_mla "
    "flash_mla tilelang quack mooncake modelopt nvshmem"
)
# No question brings a tokenizer's files.
NO_TOKENIZER = "--skip-tokenizer-init"
# Torch must find out that there is no triton before a stand-in for it exists.
BEFORE_STANDINS = ("torch._dynamo", "torch._inductor.runtime.triton_heuristics")
# Transformers would look for the distributions of these packages, which their stand-ins lack.
ABSENT_FOR_TRANSFORMERS = (
    "is_flash_attn_2_available",
    "is_flash_attn_3_available",
    "is_flash_attn_4_available",
    "is_torchao_available",
)


class _Parsed:
    """Where a command line stands: its namespace once argparse is done, its server arguments once they are built."""

    def __init__(self, argv: list[str]) -> None:
        self.argv = argv
        self.namespace = argparse.Namespace()


class _ParsedOnly(Exception):
    """Stops `prepare_server_args` between argparse and the resolution of arguments."""


def _tell_transformers() -> None:
    """Let transformers know that some packages are absent although they have stand-ins."""
    for module in ("transformers.utils.import_utils", "transformers.utils"):
        asked = importlib.import_module(module)
        for question in ABSENT_FOR_TRANSFORMERS:
            if hasattr(asked, question):
                setattr(asked, question, lambda *_args, **_kwargs: False)


class Adapter:
    """Asks the module `sglang.srt.server_args` of the release that is installed."""

    package = "sglang"

    def __init__(self) -> None:
        for module in BEFORE_STANDINS:
            importlib.import_module(module)
        self.finder = standin.install(ABSENT.split())
        _tell_transformers()
        facade.smooth_torch()
        facade.install(os.environ.get("SPECCONF_ENGINE_GPU", "H100"))
        self.module = importlib.import_module("sglang.srt.server_args")
        self.version: str = importlib.import_module("sglang").__version__

    def warm(self) -> None:
        self._known_parser = self.parser()

    def platform(self) -> str:
        """None of its own: the GPU is shown."""
        return ""

    def standins(self) -> list[str]:
        return sorted(self.finder.used)

    def parser(self) -> argparse.ArgumentParser:
        """The server's parser."""
        parser = argparse.ArgumentParser(prog="sglang serve")
        self.module.ServerArgs.add_cli_args(parser)
        return parser

    def members(self) -> dict[str, list[dict[str, Any]]]:
        """The registry of environment variables, in the releases that have one."""
        try:
            registry = importlib.import_module("sglang.srt.environ")
        except ModuleNotFoundError:
            return {}
        fields = [field for field in vars(registry.Envs).values() if isinstance(field, registry.EnvField)]
        return {"sglang.env": [{"name": field.name, "default": field.default} for field in fields]}

    def _server_words(self, argv: list[str]) -> list[str]:
        """The words that the server's parser gets: `sglang serve` takes a model without its option."""
        if "-m" in argv[:6]:
            words = argv[argv.index("-m") + 2 :]
        else:
            words = argv[2:]
            words = ["--model-path", *words] if words and not words[0].startswith("-") else words
        return words if NO_TOKENIZER in words else [*words, NO_TOKENIZER]

    def parse(self, argv: list[str]) -> _Parsed:
        """Stops where argparse is done, with the option file merged as the release does it."""
        parsed = _Parsed(self._server_words(argv))
        original = self.module.ServerArgs.__dict__["from_cli_args"]

        def stop(_: type, namespace: argparse.Namespace) -> None:
            parsed.namespace = namespace
            raise _ParsedOnly

        self.module.ServerArgs.from_cli_args = classmethod(stop)
        try:
            self.module.prepare_server_args(parsed.argv)
        except _ParsedOnly:
            return parsed
        finally:
            self.module.ServerArgs.from_cli_args = original
        raise HarnessError("prepare_server_args of this release does not call from_cli_args")

    def changed(self, parsed: _Parsed) -> dict[str, Any]:
        """The values that differ from the parser's defaults."""
        parser = self._known_parser
        return {
            name: value
            for name, value in vars(parsed.namespace).items()
            if not name.startswith("_") and value != parser.get_default(name)
        }

    def configure(self, parsed: _Parsed) -> dict[str, Any]:
        """The arguments in force after resolution and the release's own checks."""
        arguments = self.module.prepare_server_args(parsed.argv)
        if hasattr(arguments, "resolve_once"):
            arguments.resolve_once()
        arguments.check_server_args()
        if hasattr(arguments, "resolved_dict"):
            found = dict(arguments.resolved_dict())
        else:
            found = {field.name: getattr(arguments, field.name) for field in dataclasses.fields(arguments)}
        return found | _members("cuda_graph_config", found.get("cuda_graph_config"))


def _members(name: str, value: Any) -> dict[str, Any]:
    """The plain values inside an object of the engine, by dotted names."""
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if not isinstance(value, dict):
        return {name: value}
    return {
        dotted: inner
        for key, each in value.items()
        if not str(key).startswith("_")
        for dotted, inner in _members(f"{name}.{key}", each).items()
    }
