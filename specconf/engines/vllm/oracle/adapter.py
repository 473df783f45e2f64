"""vLLM: the whole `vllm serve` command line, then the engine config, on its CPU platform."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import importlib.util
import os
from collections.abc import Callable
from typing import Any

from specconf.oracle.worker import standin
from specconf.oracle.worker.protocol import HarnessError

SPECULATION = "speculative_config"
SHOWN = {  # config object → fields worth comparing
    "scheduler_config": ("max_num_seqs", "max_num_batched_tokens", "async_scheduling", "enable_chunked_prefill"),
    "parallel_config": ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"),
    "model_config": ("max_model_len", "enforce_eager"),
    "cache_config": ("gpu_memory_utilization", "enable_prefix_caching", "cache_dtype"),
}


def _field(field: dataclasses.Field[Any]) -> dict[str, Any]:
    """A dataclass field as a member; pydantic's own description of a default is looked through."""
    default: Any = field.default
    factory: Any = field.default_factory
    if hasattr(default, "default_factory"):
        default, factory = default.default, default.default_factory or dataclasses.MISSING
    if factory is not dataclasses.MISSING:
        default = factory()
    absent = default is dataclasses.MISSING or type(default).__name__ == "PydanticUndefinedType"
    return {"name": field.name} | ({} if absent else {"default": default})


def _with_triton() -> None:
    """Let the choice of a model runner go as where Triton is installed, as it is with a GPU: no kernel ever runs here."""
    module = importlib.import_module("vllm.config")
    for name in ("vllm.config.vllm", "vllm.config"):
        module = importlib.import_module(name) if importlib.util.find_spec(name) else module
        if hasattr(module, "HAS_TRITON"):
            vars(module)["HAS_TRITON"] = True
            return


def _with_suffix_decoding() -> None:
    """Let suffix decoding be configured as where its package is installed; that it is needed is a fact of its own."""
    for name in ("vllm.config.speculative", "vllm.config"):
        module = importlib.import_module(name) if importlib.util.find_spec(name) else None
        if hasattr(module, "has_arctic_inference"):
            vars(module)["has_arctic_inference"] = lambda: True


def _without_amx() -> None:
    """Let no answer depend on the CPU that it is given on: chunked prefill of latent attention is kept where there is AMX."""
    cpu = importlib.import_module("torch").cpu
    if hasattr(cpu, "_is_amx_tile_supported"):
        vars(cpu)["_is_amx_tile_supported"] = lambda: False


def _inspecting_here() -> None:
    """Let an architecture be inspected in this process: a release starts another for it, to keep CUDA out of its own."""
    registry = importlib.import_module("vllm.model_executor.models.registry")

    def here(inspect: Callable[[], Any]) -> Any:
        try:
            return inspect()
        except Exception as error:
            raise RuntimeError(f"Error raised in subprocess:\n{error}") from error  # as the release says it

    if hasattr(registry, "_run_in_subprocess"):
        vars(registry)["_run_in_subprocess"] = here


class _Captured(Exception):
    """Carries a program's parser out of its `main`, at the point where the command line would be parsed."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


class _OldCommand:
    """`vllm serve` of the releases before it had a class of its own."""

    def __init__(self, scripts: Any) -> None:
        self._scripts = scripts

    def validate(self, args: argparse.Namespace) -> None:
        if hasattr(self._scripts, "validate_parsed_serve_args"):
            self._scripts.validate_parsed_serve_args(args)


def _serve_module() -> Any:
    """The module of `vllm serve`; `vllm.scripts` in old releases."""
    try:
        return importlib.import_module("vllm.entrypoints.cli.serve")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("vllm.entrypoints.cli"):
            raise
        return importlib.import_module("vllm.scripts")


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
        # Not installed, since it pins a torch; the classes of multimodal models import it.
        self.finder = standin.install(["torchvision"])
        self.version: str = importlib.import_module("vllm").__version__
        _with_triton()
        _with_suffix_decoding()
        _without_amx()
        _inspecting_here()

    def warm(self) -> None:
        self.parser()
        self._known_parser = self._server_parser()

    def platform(self) -> str:
        """The platform that the release found; releases that have no name for it are built for a CPU here."""
        try:
            found: str = importlib.import_module("vllm.platforms").current_platform.device_type
        except (ModuleNotFoundError, AttributeError):
            return ""
        return found

    def standins(self) -> list[str]:
        return sorted(self.finder.used)

    def _flexible(self) -> type[argparse.ArgumentParser]:
        for module in ("vllm.utils.argparse_utils", "vllm.utils"):
            try:
                found: type[argparse.ArgumentParser] = importlib.import_module(module).FlexibleArgumentParser
            except (ModuleNotFoundError, AttributeError):
                continue
            return found
        raise HarnessError("this release keeps FlexibleArgumentParser elsewhere")

    def parser(self) -> argparse.ArgumentParser:
        """The parser of `vllm serve`."""
        return self._program()[1]

    def _program(self) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser, Any]:
        serve = _serve_module()
        if not hasattr(serve, "cmd_init"):
            return self._old_program(serve)
        program = self._flexible()(description="vLLM CLI")
        subparsers = program.add_subparsers(required=False, dest="subparser")
        command = serve.cmd_init()[0]
        return program, command.subparser_init(subparsers), command

    def _old_program(self, scripts: Any) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser, Any]:
        """The same where `main` itself builds the parser: it is stopped when it would parse."""
        flexible: Any = self._flexible()
        original = flexible.parse_args

        def stop(parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
            raise _Captured(parser)

        flexible.parse_args = stop
        try:
            scripts.main()
        except _Captured as captured:
            program = captured.parser
        else:
            raise HarnessError("main of this release parses no command line")
        finally:
            flexible.parse_args = original
        commands = next(action for action in program._actions if isinstance(action, argparse._SubParsersAction))
        return program, commands.choices["serve"], _OldCommand(scripts)

    def _server_parser(self) -> argparse.ArgumentParser:
        """The parser of the server alone, which `python -m vllm.entrypoints.openai.api_server` uses."""
        parser: argparse.ArgumentParser = _serve_module().make_arg_parser(self._flexible()())
        return parser

    def members(self) -> dict[str, list[dict[str, Any]]]:
        """The fields of SpeculativeConfig where it is a dataclass, and the variables of `vllm.envs`."""
        variables = importlib.import_module("vllm.envs").environment_variables
        for name in variables:
            os.environ.pop(name, None)
        found = {"vllm.env": [{"name": name, "default": read()} for name, read in variables.items()]}
        speculation = importlib.import_module("vllm.config").SpeculativeConfig
        if dataclasses.is_dataclass(speculation):
            found["vllm.speculative_config"] = [
                _field(field) for field in dataclasses.fields(speculation) if field.init
            ]
        return found

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
        parser = self._known_parser
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
        if (
            draft is not None and getattr(draft, "runner_type", None) == "draft"
        ):  # else it is the target's own, or a copy of it
            found[f"{SPECULATION}.draft_max_model_len"] = draft.max_model_len
        return found | {f"{SPECULATION}.architectures": getattr(draft, "architectures", None)}
