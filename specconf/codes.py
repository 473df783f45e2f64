"""The registry of finding codes: one line each, by the reader's concern, never reused."""

from __future__ import annotations

from msgspec import Struct


class Code(Struct, frozen=True):
    """A family of findings. `name` is its short kebab-case name, `about` one sentence for `explain`.

    `fix`: what to do, for codes that come from lowering or reading rather than from constraints.
    """

    code: str
    name: str
    about: str
    fix: str = ""


_CODES = (
    Code("SC101", "unknown-option", "An option, key or environment variable that this release does not know."),
    Code(
        "SC102",
        "ambiguous-option",
        "A shortened option that is read as several options, or as another than is meant.",
    ),
    Code(
        "SC103",
        "invalid-value",
        "A value that this release does not accept for an option: wrong type, choice or range.",
    ),
    Code("SC104", "missing-option", "An option that this release requires and that was not given."),
    Code("SC105", "deprecated-option", "An option that still works and is going away."),
    Code("SC106", "option-without-effect", "An option that is accepted and does nothing in this release."),
    Code("SC107", "duplicate-option", "The same setting is written more than once; only one of them counts."),
    Code("SC201", "method-not-available", "The speculation method is unknown to, or refused by, this release."),
    Code(
        "SC202",
        "draft-length",
        "The number of draft tokens is missing, impossible, or not what the method was trained for.",
    ),
    Code("SC203", "draft-tree", "topk, steps and verify tokens do not fit each other or the scheduler."),
    Code("SC204", "missing-draft", "The method needs draft weights that were not given."),
    Code("SC205", "scheduler", "Speculation and the overlap (asynchronous) scheduler get in each other's way."),
    Code("SC206", "value-rewritten", "The engine replaces a value by one of its own."),
    Code(
        "SC207", "speculation-disabled", "The engine switches speculation off, or runs it on another engine generation."
    ),
    Code("SC208", "method-inferred", "The engine uses another method than the one that was asked for."),
    Code("SC250", "cannot-be-expressed", "A field of the spec has no equivalent in this release of the engine."),
    Code("SC251", "launch-not-supported", "A multi-node or disaggregated launch, which compile does not write yet."),
    Code(
        "SC252", "option-conflict", "An engine option of the spec sets what a field of the spec also sets, differently."
    ),
    Code("SC301", "no-mtp-layers", "Multi-token prediction on a target whose checkpoint has no MTP layers."),
    Code("SC302", "vocabulary-mismatch", "Draft and target vocabularies differ."),
    Code("SC303", "draft-kind", "The draft checkpoint is of another kind than the method needs."),
    Code("SC304", "remote-code", "The checkpoint needs code from its repository, which the launch does not allow."),
    Code("SC305", "target-not-supported", "The method does not work with this target architecture."),
    Code("SC306", "draft-context", "The draft's context is shorter than what the launch asks for."),
    Code(
        "SC307",
        "no-native-class",
        "This release of the engine has no implementation of its own for the model's architecture.",
    ),
    Code(
        "SC308",
        "draft-config",
        "The draft's config lacks what the engine reads in it, or does not fit the target or the release.",
    ),
    Code("SC401", "parallelism", "The parallel layout does not work with speculation, or the draft's does not fit it."),
    Code("SC402", "feature-conflict", "A feature the spec lists does not work together with speculation."),
    Code("SC501", "not-exact", "Outputs can differ from the target's own."),
    Code("SC502", "exactness-not-checked", "Whether outputs stay exact in this release is not known."),
    Code("SC601", "memory-semantics", "A memory setting means something else in this engine than the spec's field."),
    Code(
        "SC602",
        "step-capacity",
        "The budget of one step, in tokens or requests, is too small for what the launch asks.",
    ),
    Code("SC603", "cuda-graphs", "Decode steps are wider than the CUDA graphs that the engine captures."),
    Code("SC701", "release-floats", "The release of a launch is not pinned."),
    Code("SC702", "release-unknown", "The release is newer or older than the database, or not a published one."),
    Code("SC703", "broken-quoting", "JSON that the quoting of its file breaks before the engine reads it."),
    Code(
        "SC704",
        "cut-off",
        "Flags that a comment, or a mark of continuation that is missing or broken, cuts off from their launch.",
    ),
    Code("SC705", "literal-variable", "A variable that nothing puts in, or another one than is meant."),
    Code("SC706", "quotes-kept", "Quotes or a backslash that no shell takes off, so that they are part of the value."),
    Code("SC707", "not-readable", "A file that mentions an engine and cannot be read as what it is."),
    Code(
        "SC708",
        "unused-suppression",
        "A specconf comment that suppresses nothing, or that has no effect because it gives no reason or cannot be read.",
        "Remove the comment, or write `specconf: ignore[CODE] reason` or `specconf: release ENGINE=RELEASE`.",
    ),
    Code("SC709", "not-started", "A command that its container cannot start as it is written."),
    Code(
        "SC901",
        "value-changes",
        "A setting that is in force has another value after an upgrade, though the launch is the same.",
        "Write the value that is to be kept, or accept the new one.",
    ),
    Code("SC902", "becomes-exact", "An upgrade ends what made outputs differ from the target's own."),
    Code("SC903", "newly-possible", "What the release to come can do, or accepts, and the one that runs does not."),
    Code(
        "SC904",
        "refused-already",
        "The launch is refused by the release it is upgraded from, so that nothing can be compared with it.",
        "Mend the launch first: `specconf lint` says how.",
    ),
)

CODES: dict[str, Code] = {c.code: c for c in _CODES}
# Those that a release's own reference of its options decides, so that documentation is proof enough for an error.
SCHEMA_CODES = frozenset({"SC101", "SC103"})
