"""Asking the Hugging Face hub for one config.json: the only module that imports huggingface_hub, inside the call.

It fetches that one file, runs none of the repository's code, gives up after three seconds, and never prints what the
library says: its messages can quote requests.
"""

from __future__ import annotations

import threading
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

TIME_LIMIT = 3.0


class Cause(StrEnum):
    """Why there are no facts of a model."""

    PATH_MISSING = "path_missing"
    PATH_WITHOUT_CONFIG = "path_without_config"
    BAD_REFERENCE = "bad_reference"
    NOT_HERE = "not_here"
    NO_HUB_EXTRA = "no_hub_extra"
    ABSENT = "absent"
    GATED = "gated"
    UNREACHABLE = "unreachable"
    UNREADABLE = "unreadable"


class Unavailable(Struct, frozen=True):
    """No facts of a model, and why."""

    reason: str
    cause: Cause

    @property
    def input_error(self) -> bool:
        """Whether what was written cannot be right on this machine, so that a command that was given it stops."""
        return self.cause in {Cause.PATH_MISSING, Cause.PATH_WITHOUT_CONFIG, Cause.BAD_REFERENCE}


def fetch_config(ref: str, revision: str | None) -> bytes | Unavailable:
    """The bytes of config.json of a hub id."""
    try:
        # An optional extra, and slow to import: only when the hub is asked.
        from huggingface_hub import errors, hf_hub_download
        from huggingface_hub.utils import disable_progress_bars
    except ImportError:
        return Unavailable("needs the hub extra: pip install 'specconf[hub]'", Cause.NO_HUB_EXTRA)
    answer: list[bytes | Exception] = []

    def ask() -> None:
        try:
            path = hf_hub_download(ref, "config.json", revision=revision, etag_timeout=TIME_LIMIT)
            answer.append(Path(path).read_bytes())
        except Exception as error:  # noqa: BLE001  # whatever it raises, the model is not known
            answer.append(error)

    import logging

    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(
        logging.CRITICAL + 1
    )  # it logs each retry, and requests when asked to
    thread = threading.Thread(target=ask, daemon=True, name=f"hub {ref}")
    thread.start()
    thread.join(TIME_LIMIT)
    if not answer:
        return Unavailable(f"the hub did not answer within {TIME_LIMIT:g} s", Cause.UNREACHABLE)
    got = answer[0]
    if isinstance(got, bytes):
        return got
    for kind, reason, cause in (
        (errors.GatedRepoError, f"{ref} is gated: accept its terms and log in, or give a local directory", Cause.GATED),
        (errors.RepositoryNotFoundError, f"the hub has no {ref}, or it is private", Cause.ABSENT),
        (errors.RevisionNotFoundError, f"{ref} has no revision {revision}", Cause.ABSENT),
        (errors.LocalEntryNotFoundError, "the hub cannot be reached", Cause.UNREACHABLE),
        (errors.EntryNotFoundError, f"{ref} has no config.json", Cause.ABSENT),
    ):
        if isinstance(got, kind):
            return Unavailable(reason, cause)
    return Unavailable(f"the hub cannot be reached ({type(got).__name__})", Cause.UNREACHABLE)
