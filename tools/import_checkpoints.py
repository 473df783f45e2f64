"""Import checkpoint rows from published packages into `compat/checkpoints/*.jsonl`; a second run writes the same bytes.

    import_checkpoints.py aiconfigurator WHEEL    aiconfigurator-core's bundled config.json files
    import_checkpoints.py vllm-tests SDIST        the architectures and remote-code flags of vLLM's test model registry
    import_checkpoints.py vllm-docs SDIST         its tables of supported models, and the drafts of its pages on speculation
    import_checkpoints.py vllm-recipes SDIST      the ids that its recipes serve, and their drafts
    import_checkpoints.py sglang-tests WHEEL      the pairs of target and draft of SGLang's tests

The archives are given by path (pip download). A bundled file counts as a whole config.json only if its keys are sorted
and it holds transformers_version, as transformers writes them; any other was edited, so its absent keys stay unknown.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from checkpoints_sglang import test_pairs
from checkpoints_vllm import documented, recipes

OUT = Path(__file__).resolve().parent.parent / "compat" / "checkpoints"
LONG = 300  # a value whose JSON is longer is left out and named in `elided`
ELSEWHERE = frozenset({"vision_config", "audio_config"})
QUANTIZATION_KEYS = frozenset({"quant_method", "quant_algo", "fmt", "bits", "activation_scheme"})
SECTIONS = ("_TEXT_GENERATION_EXAMPLE_MODELS", "_MULTIMODAL_EXAMPLE_MODELS")
REGISTRY = "tests/models/registry.py"
HEADS = (("DSpark", "dspark"), ("DFlash", "dflash"), ("Eagle3", "eagle3"), ("Medusa", "medusa"), ("Eagle", "eagle"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", choices=list(SOURCES))
    parser.add_argument("archive", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    read, name = SOURCES[arguments.source]
    rows = sorted(read(arguments.archive), key=lambda row: row["id"])
    lines = (json.dumps(row, sort_keys=True, ensure_ascii=False) + "\n" for row in rows)
    (arguments.out / name).write_text("".join(lines), encoding="utf-8")
    sys.stdout.write(f"{len(rows)} rows in {arguments.out / name}\n")
    return 0


def bundled_configs(wheel: Path) -> Iterator[dict[str, Any]]:
    """One row for each config.json that aiconfigurator-core bundles."""
    release = wheel.name.split("-")[1]
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            found = re.fullmatch(r"aiconfigurator_core/model_configs/([^/]+)--([^/]+?)_config\.json", name)
            if not found or found[2].endswith("_hf_quant"):
                continue
            config = json.loads(archive.read(name))
            whole = list(config) == sorted(config) and "transformers_version" in config
            kept, elided = shorten(config)
            if name.replace("_config.json", "_hf_quant_config.json") in archive.namelist():
                elided = sorted({*elided, *({"quantization_config"} - set(config))})
            source = {"kind": "source", "package": "aiconfigurator-core", "release": release, "file": name}
            if not whole:
                source["note"] = "edited by the package: keys may have been dropped"
            row = {"id": f"{found[1]}/{found[2]}", "kind": "plain", "config": kept, "source": [source]}
            yield row | ({"complete": True} if whole else {}) | ({"elided": elided} if elided else {})


def shorten(config: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The config without what is long or tells nothing of the language model, and the paths left out."""
    kept: dict[str, Any] = {}
    elided: list[str] = []
    for key, value in config.items():
        if key in ELSEWHERE:
            elided.append(key)
        elif key == "quantization_config" and isinstance(value, dict):
            kept[key] = {name: inner for name, inner in value.items() if name in QUANTIZATION_KEYS}
            elided += [f"{key}.{name}" for name in value if name not in QUANTIZATION_KEYS]
        elif key.endswith("_config") and isinstance(value, dict):
            kept[key], inner_elided = shorten(value)
            elided += [f"{key}.{path}" for path in inner_elided]
        elif len(json.dumps(value)) > LONG:
            elided.append(key)
        else:
            kept[key] = value
    return kept, sorted(elided)


def test_registry(sdist: Path) -> Iterator[dict[str, Any]]:
    """One row for each id in vLLM's test model registry, from its text without running it."""
    release = sdist.name.removeprefix("vllm-").removesuffix(".tar.gz")
    with tarfile.open(sdist) as archive:
        member = archive.extractfile(f"vllm-{release}/{REGISTRY}")
        assert member is not None
        tree = ast.parse(member.read())
    rows: dict[str, dict[str, Any]] = {}
    for section, architecture, call in entries(tree):
        words = {word.arg: word.value for word in call.keywords}
        where = {"package": "vllm", "release": release, "file": REGISTRY, "line": call.lineno}
        if section in SECTIONS:
            for model in plain_ids(call, words):
                rows.setdefault(model, plain_row(model, architecture, where))
        elif (head := head_id(call, words)) and (kind := head_kind(architecture)):
            note = f"drafts as {architecture}; what its own config.json names is not shown"
            row = {"id": head, "kind": kind, "config": {}, "source": [{"kind": "source", **where, "note": note}]}
            rows.setdefault(head, row | {"drafts_for": [text(call.args[0])]})
    yield from rows.values()


def entries(tree: ast.Module) -> Iterator[tuple[str, str, ast.Call]]:
    """Section name, architecture and call of every registry entry that specconf reads."""
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Dict):
            continue
        name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
        if name not in (*SECTIONS, "_SPECULATIVE_DECODING_EXAMPLE_MODELS"):
            continue
        for key, value in zip(node.value.keys, node.value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Call):
                yield name, str(key.value), value


def text(node: ast.expr | None) -> str:
    """A literal text that is a hub id, else the empty string."""
    found = ast.literal_eval(node) if isinstance(node, ast.Constant) else None
    return found if isinstance(found, str) and re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", found) else ""


def plain_ids(call: ast.Call, words: dict[str | None, ast.expr]) -> list[str]:
    """The default id and the extra ids, unless the tests override the architecture of the config."""
    if "hf_overrides" in words and "architectures" in ast.dump(words["hf_overrides"]):
        return []
    extras = words.get("extras")
    more = extras.values if isinstance(extras, ast.Dict) else []
    return [model for node in (*call.args[:1], *more) if (model := text(node))]


def plain_row(model: str, architecture: str, where: dict[str, Any]) -> dict[str, Any]:
    """A row of the architecture alone.

    That the tests pass trust_remote_code is left out: they do so for checkpoints which need none.
    """
    config = {"architectures": [architecture]}
    return {"id": model, "kind": "plain", "config": config, "source": [{"kind": "source", **where}]}


def head_id(call: ast.Call, words: dict[str | None, ast.expr]) -> str:
    """The draft of an entry, unless the target holds it itself or its name says that another format wraps the head."""
    head = text(words.get("speculative_model"))
    return head if call.args and head != text(call.args[0]) and "speculators" not in head else ""


def head_kind(architecture: str) -> str | None:
    if architecture.startswith(("PEagle", "Peagle")):
        return None
    if architecture == "Gemma4MTPModel":
        return "mtp_assistant"
    return next((kind for word, kind in HEADS if word in architecture), None)


SOURCES: dict[str, tuple[Callable[[Path], Iterator[dict[str, Any]]], str]] = {
    "aiconfigurator": (bundled_configs, "aiconfigurator.jsonl"),
    "vllm-tests": (test_registry, "vllm_test_registry.jsonl"),
    "vllm-docs": (documented, "vllm_docs.jsonl"),
    "vllm-recipes": (recipes, "vllm_recipes.jsonl"),
    "sglang-tests": (test_pairs, "sglang_tests.jsonl"),
}

if __name__ == "__main__":
    sys.exit(main())
