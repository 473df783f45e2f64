"""All table rows of one release: the one list of the readers of tables."""

from __future__ import annotations

from specconf.engines.sglang.harvest.algorithms import algorithm_rows
from specconf.engines.sglang.harvest.backends import backend_rows
from specconf.engines.sglang.harvest.behaviour import metric_rows, order_rows, scope_rows
from specconf.engines.sglang.harvest.capture import capture_rows
from specconf.engines.sglang.harvest.drafting import drafting_rows
from specconf.engines.sglang.harvest.multilayer import multi_layer_rows
from specconf.engines.sglang.harvest.numbers import number_rows
from specconf.engines.sglang.harvest.ownpath import own_path_rows
from specconf.engines.sglang.harvest.registry import registry_rows
from specconf.engines.sglang.harvest.release import Release
from specconf.harvest.intervals import Row
from specconf.harvest.rewrites import rewrite_rows

# Where the configuration of a checkpoint is read and changed before a class is looked for.
_CONFIGURATION = ("sglang/srt/configs/", "sglang/srt/utils/hf_transformers", "sglang/srt/hf_transformers_utils")


def table_rows(release: Release, options: list[Row]) -> list[Row]:
    """The rows of every table; `options` are the release's own option rows."""
    registered = registry_rows(release)
    return [
        *algorithm_rows(release, options),
        *number_rows(release),
        *drafting_rows(release),
        *own_path_rows(release),
        *multi_layer_rows(release),
        *backend_rows(release),
        *registered,
        *capture_rows(release, registered),
        *order_rows(release),
        *scope_rows(release),
        *metric_rows(release),
        *rewrite_rows(release.archive, release.name, _CONFIGURATION),
    ]
