"""Why we answer otherwise than SGLang was recorded to, or do not know: by set and launch, for the comparison's page."""

from __future__ import annotations

from fnmatch import fnmatchcase

# Set, launch, machine and words of what is said, as patterns; the first that fits gives the reason.
REASONS: tuple[tuple[str, str, str, str, str], ...] = (
    ("*", "*", "*", "*KeyError: 'factor'*", "a slip of that release over the rotary settings of the tiny config"),
    ("boundaries", "ad_flat", "*", "*", "the content of the file that the launch names was not recorded with it"),
    (
        "*",
        "*",
        "*",
        "*DSpark dense speculative*",
        "whether the target's folder holds a DSpark draft is not in its config",
    ),
    ("profiles", "*", "cpu", "`chunked_prefill_size`", "by the memory of the machine, which a spec does not name"),
    ("profiles", "*", "cpu", "`cuda_graph_*`", "by the memory of the machine, which a spec does not name"),
    (
        "*",
        "*",
        "*",
        "`speculative_moe_runner_backend`",
        "which runner the target gets for its experts there is not worked out",
    ),
    ("profiles", "*", "cpu", "`attention_backend`", "whether the CPU has AMX, which no launch says"),
    ("profiles", "deterministic_eagle", "cpu", "*", "whether the CPU has AMX decides which backend is refused"),
    ("profiles", "*", "cpu", "`mem_fraction_static`", "by the memory of the machine, which a spec does not name"),
)


def reason(name: str, probe: str, machine: str, text: str) -> str:
    """The reason, or nothing."""
    said = (name, probe, machine, text)
    return next(
        (why for *row, why in REASONS if all(fnmatchcase(x, pattern) for x, pattern in zip(said, row, strict=True))), ""
    )
