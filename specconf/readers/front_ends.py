"""Programs that are an engine with options of their own: Dynamo's workers and KServe's server. Their words as the engine's.

A front end takes the engine's options and some more. The engine is told about its own alone; every word keeps the place
and the text that the file has. Dynamo's own options are those of its releases up to 1.7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.words import Word

_DYNAMO = """
    --namespace --endpoint --kv-state-endpoint --discovery-backend --request-plane --response-plane --event-plane
    --fpm-trace --connector --custom-jinja-template --endpoint-types --dump-config-to --output-modalities
    --health-check-payload --engine-request-limit --exclude-tools-when-tool-choice-none --enable-local-indexer
    --durable-kv-events --store-kv --migration-limit --frontend-decoding --version
"""
_DYNAMO_VLLM = """
    --is-prefill-worker --is-decode-worker --disaggregation-mode --use-vllm-tokenizer --sleep-mode-level
    --route-to-encoder --enable-multimodal --mm-prompt-template --omni --stage-configs-path --video-output-dir
    --default-video-fps --model-express-url --benchmark-mode
"""
_DYNAMO_SGLANG = """
    --use-sglang-tokenizer --embedding-worker --image-diffusion-worker --disagg-config --disagg-config-key
    --video-generation-worker
"""
_OWN = pattern(r"--(?:no-)?(?:dyn|tcp-tls|nats-tls|afd|media-output|multimodal|benchmark)-")
_KSERVE = """
    --model_name --backend --task --return_token_type_ids --return_probabilities --http_port --grpc_port --workers
    --enable_docs_url --enable_grpc --max_asyncio_workers --predictor_host --protocol --predictor_use_ssl
    --predictor_request_timeout_seconds --log_config_file --access_log_format --enable_latency_logging
    --configure_logging --max_threads --disable_log_requests
"""


class FrontEnd(Struct, frozen=True):
    """One front end: the words that start the engine in its place, its own options, and the engine's by other names.

    `only`: nothing but the renamed options is the engine's; `positional`: the options whose value is the engine's first
    word; `opens`: options that hold any option of the engine, in a form that is not read.
    """

    program: tuple[str, ...]
    own: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    only: bool = False
    positional: frozenset[str] = frozenset()
    opens: tuple[str, ...] = ()


FRONT_ENDS: dict[str, FrontEnd] = {
    "dynamo.vllm": FrontEnd(("-m", "vllm.entrypoints.openai.api_server"), frozenset((_DYNAMO + _DYNAMO_VLLM).split())),
    "dynamo.sglang": FrontEnd(("-m", "sglang.launch_server"), frozenset((_DYNAMO + _DYNAMO_SGLANG).split())),
    "dynamo.trtllm": FrontEnd(
        ("trtllm-serve",),
        renamed={
            "--tensor-parallel-size": "--tp_size",
            "--pipeline-parallel-size": "--pp_size",
            "--expert-parallel-size": "--ep_size",
            "--max-batch-size": "--max_batch_size",
            "--max-num-tokens": "--max_num_tokens",
            "--max-seq-len": "--max_seq_len",
            "--max-beam-width": "--max_beam_width",
            "--free-gpu-memory-fraction": "--kv_cache_free_gpu_memory_fraction",
            "--extra-engine-args": "--extra_llm_api_options",
        },
        only=True,
        positional=frozenset({"--model", "--model-path"}),
        opens=("--override-engine-args", "--trtllm."),
    ),
    "huggingfaceserver": FrontEnd(
        ("-m", "vllm.entrypoints.openai.api_server"),
        frozenset(_KSERVE.split()),
        renamed={"--model_dir": "--model", "--model_id": "--model"},
    ),
}


def as_engine(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words of the engine that `python -m FRONT_END …` starts; other words as they are."""
    at = next((n for n, word in enumerate(words[:6]) if word.value == "-m"), None)
    if at is None or at + 1 >= len(words):
        return words
    module = words[at + 1]
    front_end = FRONT_ENDS.get(module.value or "")
    options = list(_options(words[at + 2 :]))
    if front_end is None or _another_backend(options):
        return words
    program = tuple(Word(text, module.span, module.raw) for text in front_end.program)
    start = words[:at] if len(program) > 1 else ()
    found = [word for option in options for word in _translated(option, front_end)]
    if front_end.positional:
        models = [w for option in options if _name(option) in front_end.positional for w in _value(option)]
        found = [models[-1] if models else Word(None, module.span, "its model"), *found]
    return (*start, *program, *found)


def _options(words: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """Each option with the words up to the next one."""
    group: list[Word] = []
    for word in words:
        starts = word.text.startswith("--") or (word.value is None and word.may_be_many) or re.match(r"-\w", word.text)
        if starts and group:
            yield tuple(group)
            group = []
        group.append(word)
    if group:
        yield tuple(group)


def _name(option: tuple[Word, ...]) -> str:
    return option[0].text.partition("=")[0]


def _value(option: tuple[Word, ...]) -> tuple[Word, ...]:
    """The value of an option, in the same word or the next."""
    word = option[0]
    _, sign, raw = word.raw.partition("=")
    if not sign:
        return option[1:2]
    return (Word(word.value.partition("=")[2] if word.value is not None else None, word.span, raw),)


def _another_backend(options: list[tuple[Word, ...]]) -> bool:
    """Whether KServe's server is told to run no vLLM."""
    return any(
        _name(option) == "--backend" and [w.value for w in _value(option)] == ["huggingface"] for option in options
    )


def _translated(option: tuple[Word, ...], front_end: FrontEnd) -> tuple[Word, ...]:
    word, name = option[0], _name(option)
    plain = name.replace("--no-", "--", 1)
    if front_end.opens and name.startswith(front_end.opens):
        return (replace(word, value=None, may_be_many=True),)
    if not word.text.startswith("-"):
        return option
    if plain in front_end.own or (front_end.own and _OWN.match(name)):
        return ()
    if name in front_end.renamed:
        new = front_end.renamed[name]
        value = new + word.value[len(name) :] if word.value is not None else None
        return (
            replace(word, value=value, raw=word.raw if value is not None else new + word.raw[len(name) :]),
            *option[1:],
        )
    return () if front_end.only else option
