"""TensorRT-LLM: click's parsing of `trtllm-serve`, then its arguments as they are when an LLM is about to be built.

In the five states of `serve.py` and three of `llm.py` that were read, from about 0.20 to about 1.3.0rc (none could be pinned to
a release), `serve` merges the option file into keyword arguments and calls `launch_server`, which constructs an LLM class, in
newer ones after it has bound a port; the constructor validates everything into `self.args` before it starts a process.
The question ends at that assignment: whether the arguments come from `LlmArgs.from_kwargs` or from the class itself, which
changed, makes no difference. A release that goes another way is a harness error, never a verdict.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
import socket
import sys
import types
from collections.abc import Iterator
from typing import Any, NoReturn

from specconf.oracle.worker.protocol import HarnessError

# Their members are shown one by one.
NESTED = ("speculative_config", "kv_cache_config", "scheduler_config")
# Of a speculative_config, whether it is a field or, in older releases, an attribute of the class.
TAG = "decoding_type"


class _Built(BaseException):
    """Carries the arguments out of an LLM's constructor, past every `except Exception` on the way."""

    def __init__(self, arguments: Any) -> None:
        super().__init__()
        self.arguments = arguments


class _Unbound(socket.socket):
    """A socket that takes no port: whether one is free on this machine is not asked."""

    def bind(self, address: Any) -> None:
        """Take nothing."""

    def getsockname(self) -> Any:
        """An address as a bound socket has one."""
        return ("localhost", 1)


class Adapter:
    """Asks the command group of `tensorrt_llm.commands.serve`."""

    package = "tensorrt_llm"

    def __init__(self) -> None:
        os.environ.setdefault("TRTLLM_NO_USAGE_STATS", "1")
        os.environ.setdefault("TELEMETRY_DISABLED", "1")
        self.version: str = importlib.import_module("tensorrt_llm").__version__
        self.serve = importlib.import_module("tensorrt_llm.commands.serve")
        self.click = importlib.import_module("click")
        for name in ("main", "serve", "launch_server"):
            if not hasattr(self.serve, name):
                raise RuntimeError(
                    f"tensorrt_llm.commands.serve of {self.version} has no {name}: specconf cannot ask it"
                )

    def warm(self) -> None:
        """Everything is imported with the command."""

    def platform(self) -> str:
        return "cuda"

    def standins(self) -> list[str]:
        return []

    def parser(self) -> argparse.ArgumentParser:
        raise HarnessError("trtllm-serve has no argparse parser")

    def members(self) -> dict[str, list[dict[str, Any]]]:
        return {}

    def parse(self, argv: list[str]) -> Any:
        """click's context of the `serve` command, whether it is named or the default; nothing is run."""
        group = self.serve.main
        words = list(argv[1:])
        try:
            outer = self.click.Context(group, info_name="trtllm-serve")
            name, command, rest = group.resolve_command(outer, words)
            if command is not self.serve.serve:
                raise HarnessError(f"trtllm-serve {name} starts something other than an LLM")
            return command.make_context(name, list(rest), parent=outer)
        except self.click.exceptions.Exit as ended:
            raise SystemExit(ended.exit_code) from None
        except self.click.ClickException as error:
            self._end(error)

    def changed(self, parsed: Any) -> dict[str, Any]:
        """The values that the command line gives."""
        given = self.click.core.ParameterSource.COMMANDLINE
        return {name: value for name, value in parsed.params.items() if parsed.get_parameter_source(name) is given}

    def configure(self, parsed: Any) -> dict[str, Any]:
        """The arguments that the release hands to the LLM it would build."""
        self._bind_nothing()
        self._stop_at_arguments()
        try:
            with parsed:
                parsed.command.invoke(parsed)
        except _Built as built:
            return dict(_shown(built.arguments))
        except self.click.ClickException as error:
            self._end(error)
        raise HarnessError("this launch starts something other than an LLM")

    def _end(self, error: Any) -> NoReturn:
        """What click's own main does with such an error."""
        error.show(file=sys.stderr)
        raise SystemExit(error.exit_code)

    def _bind_nothing(self) -> None:
        """Let the command's module see sockets that bind to nothing, in the releases that bind before they validate."""
        if getattr(self.serve, "socket", None) is not socket:
            return
        module: Any = types.ModuleType("socket")
        module.__dict__.update(vars(socket), socket=_Unbound)
        vars(self.serve)["socket"] = module

    def _stop_at_arguments(self) -> None:
        """Let the constructor that all LLM classes share end where it has its arguments."""
        llm = importlib.import_module("tensorrt_llm.llmapi.llm")
        base = getattr(llm, "BaseLLM", None) or getattr(llm, "LLM", None)
        if base is None:
            raise HarnessError("tensorrt_llm.llmapi.llm of this release has no LLM class")

        def assign(instance: Any, name: str, value: Any) -> None:
            if name == "args":
                raise _Built(value)
            object.__setattr__(instance, name, value)

        base.__setattr__ = assign


def _shown(arguments: Any) -> Iterator[tuple[str, Any]]:
    """Arguments by name, with the members of those that have some."""
    for name, value in _fields(arguments):
        if name in NESTED and value is not None and not isinstance(value, dict):
            yield from ((f"{name}.{inner}", held) for inner, held in _fields(value))
            if hasattr(value, TAG):
                yield f"{name}.{TAG}", getattr(value, TAG)
        else:
            yield name, value


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a pydantic model or dataclass."""
    names = getattr(type(value), "model_fields", None)
    if names is None and dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    if names is None:
        raise HarnessError(f"the arguments of this release are a {type(value).__name__}, which specconf cannot read")
    for name in names:
        yield name, getattr(value, name, None)
