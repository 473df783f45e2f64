"""The shape of a deployment: launches that are one part of several, and more ranks than there are GPUs.

Multi-node and prefill/decode-disaggregated launches are refused until compile can write all of their parts.
"""

from __future__ import annotations

from specconf.engines.base import Engine, LowerContext
from specconf.findings import Effect, EvidenceKind, Stage


def check_shape(context: LowerContext, engine: Engine) -> None:
    """Findings about nodes, roles and the number of GPUs; called once everything is lowered."""
    nodes = context.get("hardware.nodes")
    if isinstance(nodes, int) and nodes > 1:
        _several(context, "hardware.nodes", f"{nodes} nodes need a launch on each")
    part = engine.part_of_several(context.builder.build())
    if part:
        _several(context, f"engines.{engine.name}", part)
    _check_gpus(context)


def _several(context: LowerContext, name: str, why: str) -> None:
    context.problem(
        "SC251",
        name,
        f"specconf does not write launches of several parts yet: {why}.",
        fix="Compile for one node, and add what joins the parts by hand.",
        evidence=EvidenceKind.SOURCE,
    )


def _check_gpus(context: LowerContext) -> None:
    """More ranks than GPUs: every engine stops when it places its workers."""
    count, nodes = context.get("hardware.count"), context.get("hardware.nodes") or 1
    sizes = [context.get(f"serving.{kind}_parallel_size") or 1 for kind in ("tensor", "pipeline", "data")]
    ranks = 1
    for size in sizes:
        ranks *= size if isinstance(size, int) else 1
    if isinstance(count, int) and isinstance(nodes, int) and ranks > count * nodes:
        shown = " x ".join(str(size) for size in sizes)
        context.problem(
            "SC401",
            "hardware.count",
            f"Tensor x pipeline x data parallel size is {shown} = {ranks}, but the hardware has {count * nodes} GPUs.",
            fix="Lower a parallel size, or raise hardware.count.",
            effect=Effect.REJECTS,
            stage=Stage.WORKER,
        )
