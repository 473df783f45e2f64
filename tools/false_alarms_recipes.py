"""The launches that vLLM's model recipes yield: a recipe's YAML in, command lines out.

A recipe names base arguments, variants (checkpoints), strategies (how it is spread over GPUs), what differs by hardware,
and features, of which speculation is one with several modes. The renderer of the recipes joins them in a fixed order and
keeps the last of two equal flags; this does the same, for a covering choice of combinations instead of their product:
each variant on each hardware it names, with every mode of drafting; each strategy; each optional feature; each preset.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

Node = Mapping[str, Any]
SPEC = "spec_decoding"


class Hardware(Struct, frozen=True):
    """A machine of the recipes' vocabulary: GPUs in one node, memory of one GPU in GB."""

    id: str
    brand: str
    generation: str
    gpus: int
    memory: int


# The vocabulary belongs to the renderer and is not part of the sdist: (start of the id, brand, generation, GPUs, GB each).
_MACHINES = (
    ("h100", "nvidia", "hopper", 8, 80),
    ("h200", "nvidia", "hopper", 8, 141),
    ("b200", "nvidia", "blackwell", 8, 180),
    ("b300", "nvidia", "blackwell", 8, 268),
    ("gb200", "nvidia", "blackwell", 4, 192),
    ("gb300", "nvidia", "blackwell", 4, 288),
    ("dgx_station", "nvidia", "blackwell", 1, 252),
    ("dgx_spark", "nvidia", "blackwell", 1, 128),
    ("rtx_pro", "nvidia", "blackwell", 1, 96),
    ("rtx_50", "nvidia", "blackwell", 1, 32),
    ("l40s", "nvidia", "ada", 8, 48),
    ("mi3", "amd", "amd", 8, 192),
    ("trillium", "google", "tpu", 8, 32),
    ("ironwood", "google", "tpu", 1, 192),
    ("xeon", "intel", "cpu", 4, 256),
    ("arc_", "intel", "xpu", 4, 32),
    ("ascend", "huawei", "npu", 1, 128),
)


def hardware(name: str) -> Hardware:
    """A machine by its id; `_8x` at the end counts its GPUs."""
    for start, brand, generation, gpus, memory in _MACHINES:
        if name.startswith(start):
            counted = re.search(r"_(\d+)x\Z", name)
            return Hardware(name, brand, generation, int(counted[1]) if counted else gpus, memory)
    raise ValueError(f"{name} is no hardware that this tool knows: add it to _MACHINES")


class Rendered(Struct, frozen=True):
    """One command line of a recipe as shell text, what it was made for, and the release the recipe states for it."""

    text: str
    of: str
    release: str | None


class Choice(Struct, frozen=True):
    """One combination: `features` maps a feature to its mode, or to "" where it has none; `preset`, `point`: its parts."""

    variant: str
    machine: Hardware
    strategy: str
    features: Mapping[str, str] = field(default_factory=dict)
    role: str = ""
    layers: tuple[Node, ...] = ()

    def __str__(self) -> str:
        shown = [f"{name}={mode}" if mode else name for name, mode in self.features.items()]
        return " ".join([self.variant, self.machine.id, self.strategy, *([self.role] if self.role else []), *shown])


def render(recipe: Node) -> Iterator[Rendered]:
    """The launches of a recipe, each text once."""
    seen: set[tuple[str, str | None]] = set()
    for choice in _choices(recipe):
        text, release = _command(recipe, choice), _release(recipe, choice)
        if (text, release) not in seen:
            seen.add((text, release))
            yield Rendered(text, str(choice), release)


def _choices(recipe: Node) -> Iterator[Choice]:
    strategies = list(recipe["compatible_strategies"])
    usual = recipe.get("default_strategy") or strategies[0]
    features = recipe.get("features") or {}
    optional = list(recipe.get("opt_in_features") or [])
    always = {name: "" for name in features if name not in optional and name != SPEC and not _modes(features[name])}
    for variant in recipe["variants"]:
        for machine in _machines(recipe, variant):
            for drafting in _drafting(recipe, variant, machine):
                yield Choice(variant, machine, usual, {**always, **drafting})
    first = next(iter(recipe["variants"]))
    machine = _machines(recipe, first)[0]
    for drafting in _drafting(recipe, first, machine):
        for strategy in strategies:
            for role in ("prefill", "decode") if strategy == "pd_cluster" else ("",):
                yield Choice(first, machine, strategy, {**always, **drafting}, role)
        for name in optional:
            if name == SPEC or usual not in features[name].get("strategies", [usual]):
                continue
            for mode in _offered(features[name], first, machine):
                yield Choice(first, machine, usual, {**always, name: mode, **drafting})
    for preset in (recipe.get("presets") or {}).values():
        yield from _presets(recipe, preset, always)


def _presets(recipe: Node, preset: Node, always: Mapping[str, str]) -> Iterator[Choice]:
    variant = (preset.get("variants") or list(recipe["variants"]))[0]
    machine = hardware(preset["hardware"])
    chosen = dict(always)
    for name, wanted in (preset.get("select") or {}).get("features", {}).items():
        chosen.pop(name, None)
        if wanted:
            chosen[name] = wanted if isinstance(wanted, str) else next(iter(_usual_mode(recipe, name, variant)), "")
    roles = ("prefill", "decode") if preset["strategy"] == "pd_cluster" else ("",)
    for point in (preset.get("points") or {"": {}}).values():
        for role in roles:
            layers = [
                preset,
                point,
                *(part["roles"][role] for part in (preset, point) if role in part.get("roles", {})),
            ]
            yield Choice(variant, machine, preset["strategy"], chosen, role, tuple(layers))


def _machines(recipe: Node, variant: str) -> list[Hardware]:
    """The machines a variant is offered on, the usual one first."""
    declared = (recipe["meta"].get("hardware") or {}).items()
    row = recipe["variants"][variant]
    exact = [name for name in row.get("hardware_overrides") or {} if name not in _GROUPS]
    names = [name for name, state in declared if state != "unsupported"] + exact
    if row.get("precision") in {"nvfp4", "fp4"} and "precision_hardware" not in row:
        names = ["b200", *(name for name in names if hardware(name).generation == "blackwell")]
    else:
        names = ["h200", *names]
    allowed = row.get("supported_hardware")
    if allowed:
        named = [name for name in allowed if not name.startswith("arch:")]
        names = [name for name in names if name in allowed or len(named) < len(allowed)] or named
    return [hardware(name) for name in dict.fromkeys(names)]


_GROUPS = frozenset({"nvidia", "amd", "hopper", "blackwell", "ada", "cpu", "xpu", "npu", "tpu", "default"})


def _modes(feature: Node) -> list[str]:
    return list(feature.get("modes") or {})


def _drafting(recipe: Node, variant: str, machine: Hardware) -> list[dict[str, str]]:
    """Without speculation, and each way of speculation that is offered here."""
    feature = (recipe.get("features") or {}).get(SPEC)
    if feature is None or _keyed(feature.get("hardware") or {}, machine) == "unsupported":
        return [{}]
    return [{}, *({SPEC: mode} for mode in _offered(feature, variant, machine))]


def _offered(feature: Node, variant: str, machine: Hardware) -> list[str]:
    """The modes of a feature that a variant has on a machine; one without a name where it has no modes."""
    if not _modes(feature):
        return [""]
    return [
        mode
        for mode, row in feature["modes"].items()
        if (not row.get("variants") or variant in row["variants"])
        and _keyed(row.get("hardware") or {}, machine) != "unsupported"
    ]


def _usual_mode(recipe: Node, name: str, variant: str) -> list[str]:
    feature = recipe["features"][name]
    usual = (recipe["variants"][variant].get("default_modes") or {}).get(name) or feature.get("default_mode")
    return [usual] if usual else _modes(feature)[:1]


def _keyed(table: Any, machine: Hardware) -> Any:
    """The value for a machine in a table keyed by exact id, generation, brand or `default`."""
    if not isinstance(table, Mapping):
        return table
    for key in (machine.id, machine.generation, machine.brand, "default"):
        if key in table:
            return table[key]
    return None


def _general(table: Node | None, machine: Hardware) -> Node:
    """The block for a machine's generation, else its brand's."""
    table = table or {}
    return table.get(machine.generation) or (table.get("nvidia") if machine.brand == "nvidia" else None) or {}


def _release(recipe: Node, choice: Choice) -> str | None:
    """The release stated: the variant's, else the model's; None where it is a nightly or not stated."""
    stated = recipe["variants"][choice.variant].get("min_vllm_version") or recipe["model"].get("min_vllm_version")
    return str(stated) if stated and stated != "nightly" else None


def _command(recipe: Node, choice: Choice) -> str:
    """The shell text: environment, `vllm serve`, the checkpoint, and the arguments in the renderer's order."""
    row = recipe["variants"][choice.variant]
    exact = (row.get("hardware_overrides") or {}).get(choice.machine.id) or {}
    strategy = (recipe.get("strategy_overrides") or {}).get(choice.strategy) or {}
    role = strategy.get(choice.role) or {} if choice.role else {}
    blocks: list[Node] = [
        {"extra_args": recipe["model"].get("base_args"), "extra_env": recipe["model"].get("base_env")}
    ]
    blocks += [row, exact, {"extra_args": _parallel(recipe, choice, strategy, role)}]
    blocks += [role if choice.role else strategy]
    own = _general(strategy.get("hardware_overrides"), choice.machine)
    general = [_general(owner.get("hardware_overrides"), choice.machine) for owner in (recipe, row)]
    blocks += [own] if own else general
    blocks += [(part.get("hardware_overrides") or {}).get(choice.machine.id) or {} for part in (strategy, role)]
    blocks += [_feature(recipe["features"][name], mode, choice.machine) for name, mode in choice.features.items()]
    args: list[str] = []
    env: dict[str, Any] = dict(strategy.get("env") or {})
    for block in (*blocks, *choice.layers):
        for key in ("extra_args", "vllm_args", "args"):
            args += [str(word) for word in block.get(key) or []]
        env |= block.get("extra_env") or block.get("env") or {}
    for layer in choice.layers:
        args = _adjusted(args, layer)
    words = [_quoted(word) for word in _last_wins(args)]
    assignments = [f"{name}={_quoted(str(value))}" for name, value in env.items()]
    return " ".join([*assignments, "vllm serve", row.get("model_id") or recipe["model"]["model_id"], *words])


def _feature(feature: Node, mode: str, machine: Hardware) -> Node:
    if mode:
        row = feature["modes"][mode]
        block = _keyed(row.get("hardware_overrides") or {}, machine) or {}
        return {"args": block.get("args") or row.get("args"), "env": row.get("env")}
    block = _keyed(feature.get("hardware_overrides") or {}, machine) or {}
    return {"args": block.get("args") or feature.get("args"), "env": feature.get("env")}


def _parallel(recipe: Node, choice: Choice, strategy: Node, role: Node) -> list[str]:
    """The sizes a strategy sets, on two nodes where it needs several. How the nodes find each other is the renderer's
    own affair and no part of a recipe.
    """
    gpus = choice.machine.gpus
    experts = ["--enable-expert-parallel"]
    match choice.strategy:
        case "single_node_tp":
            return ["--tensor-parallel-size", str(_tensor_parallel(recipe, choice))]
        case (
            "single_node_dpa_tp"
        ):  # data-parallel attention beside tensor parallelism: the recipe writes its flags itself
            return []
        case "single_node_tep":
            return [*experts, "--tensor-parallel-size", str(_keyed(strategy.get("tp"), choice.machine) or gpus)]
        case "single_node_dep":
            return [*experts, "--data-parallel-size", str(gpus)]
        case "multi_node_tp":
            return ["--tensor-parallel-size", str(2 * gpus)]
        case "multi_node_tep":
            return [*experts, "--tensor-parallel-size", str(2 * gpus)]
        case "multi_node_tp_pp":
            return ["--tensor-parallel-size", str(gpus), "--pipeline-parallel-size", "2"]
        case "multi_node_tp_dp":
            return ["--tensor-parallel-size", str(gpus), "--data-parallel-size", "2", "--data-parallel-size-local", "1"]
        case "multi_node_dep":
            size = ["--data-parallel-size", str(2 * gpus), "--data-parallel-size-local", str(gpus)]
            return [*experts, *size]
        case "pd_cluster":
            return _pool(choice, role)
    raise ValueError(f"{choice.strategy} is no strategy that this tool knows: add it to _parallel")


def _pool(choice: Choice, role: Node) -> list[str]:
    """One node of a prefill or decode pool."""
    kind = "kv_producer" if choice.role == "prefill" else "kv_consumer"
    transfer = {"kv_connector": "NixlConnector", "kv_role": kind, "kv_load_failure_policy": "fail"}
    flags = ["--port", "8001", "--kv-transfer-config", json.dumps(transfer, separators=(",", ":"))]
    if choice.role == "decode":
        flags += ["--compilation-config", '{"cudagraph_mode":"FULL_DECODE_ONLY"}']
    spread = _keyed(role.get("parallelism"), choice.machine) or "tp"
    gpus = choice.machine.gpus
    if spread == "dep":
        return [
            *flags,
            "--data-parallel-size",
            str(gpus),
            "--data-parallel-size-local",
            str(gpus),
            "--enable-expert-parallel",
        ]
    size = _keyed(role.get("tp"), choice.machine) or gpus
    return [*flags, *(["--enable-expert-parallel"] if spread == "tep" else []), "--tensor-parallel-size", str(size)]


def _tensor_parallel(recipe: Node, choice: Choice) -> int:
    """The variant's own number, else the recipe's, else 1 where the weights fit one GPU and the whole node where not."""
    row = recipe["variants"][choice.variant]
    override = (recipe.get("strategy_overrides") or {}).get("single_node_tp") or {}
    for declared in (*(layer.get("tp") for layer in reversed(choice.layers)), row.get("tp"), override.get("tp")):
        size = _keyed(declared, choice.machine)
        if isinstance(size, int) and size > 0:
            return min(size, choice.machine.gpus)
    return 1 if (row.get("vram_minimum_gb") or 0) <= choice.machine.memory else choice.machine.gpus


def _adjusted(args: Sequence[str], layer: Node) -> list[str]:
    """A preset's changes: flags taken out, and members laid over a flag's JSON."""
    units = [unit for unit in _units(args) if unit[0] not in (layer.get("remove_args") or [])]
    for flag, members in (layer.get("json_args") or {}).items():
        for unit in units:
            if unit[0] == flag:
                unit[1] = json.dumps(_laid_over(json.loads(unit[1]), members), separators=(",", ":"))
        if not any(unit[0] == flag for unit in units):
            units.append([flag, json.dumps(_laid_over({}, members), separators=(",", ":"))])
    return [word for unit in units for word in unit]


def _laid_over(base: Any, members: Any) -> Any:
    """A JSON object with members laid over it; null takes one out."""
    if not isinstance(base, dict) or not isinstance(members, Mapping):
        return members
    merged = dict(base)
    for name, value in members.items():
        merged[name] = _laid_over(merged.get(name, {} if isinstance(value, Mapping) else None), value)
    return {name: value for name, value in merged.items() if value is not None}


def _units(args: Sequence[str]) -> list[list[str]]:
    """Flags, each with the value behind it, if it has one."""
    units: list[list[str]] = []
    for word in args:
        if word.startswith("-") or not units or len(units[-1]) == 2 or not units[-1][0].startswith("-"):
            units.append([word])
        else:
            units[-1].append(word)
    return units


def _last_wins(args: Sequence[str]) -> list[str]:
    """The arguments with only the last of equal flags."""
    units = _units(args)
    last = {unit[0]: at for at, unit in enumerate(units) if unit[0].startswith("-")}
    return [word for at, unit in enumerate(units) if last.get(unit[0], at) == at for word in unit]


def _quoted(word: str) -> str:
    """A word for the shell, as the renderer writes it: `$NAME` alone is left to be filled in, and flags are not quoted."""
    return word if word.startswith("-") or re.fullmatch(r"\$[A-Z_][A-Z0-9_]*", word) else shlex.quote(word)
