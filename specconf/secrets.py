"""What is a secret: names that hold one, which belong in the environment and never in a spec, and what an address carries."""

from __future__ import annotations

import re

from specconf.patterns import pattern

_OPTION = pattern(
    r"(^|_)((hf|hugging_?face|auth|access|api|bearer|github|wandb)_token"
    r"|api_?key|access_?key|private_?key|secret(_?key)?|password|passwd)$",
    re.IGNORECASE,
)
_VARIABLE = pattern(r"^([A-Z0-9_]*_)?(TOKEN|SECRET|PASSWORD|PASSWD|KEY|CREDENTIALS)$")
_IN_ADDRESS = pattern(r"//[^/@\s]+@")

# A name and, behind a sign, quotes or a blank, its value.
_NAMED = pattern(
    r"(?P<name>--?[A-Za-z][\w.-]*|[A-Za-z_][\w-]*)(?P<sign>[\"'\\]*(?:\s*[=:,]|\s)\s*[\"'\\]*)"
    r"(?P<value>(?<=\")[^\"]+|(?<=')[^']+|[^\s\"',\\}\]]+)"
)
# What is a token by its own looks, whatever stands before it.
_TOKEN = pattern(r"\b(?:hf_|sk-|gh[opsu]_|github_pat_|glpat-|nvapi-|xox[abp]-)[\w-]{8,}|\bAKIA[0-9A-Z]{12,}")


def is_secret_name(name: str) -> bool:
    """Whether an option, key or variable of this name holds a secret (`HF_TOKEN`, `api-key`; not `num_draft_tokens`)."""
    own = name.rpartition(".")[2].lstrip("-").replace("-", "_")
    return _OPTION.search(own) is not None or _VARIABLE.match(own) is not None


def without_credentials(text: str) -> str:
    """A text without the names and passwords that addresses in it carry."""
    return _IN_ADDRESS.sub("//***@", text)


def masked(line: str) -> str:
    """A line as it may be shown: stars, as many, for what is behind a secret's name, in an address, or looks like a token."""
    shown, at = "", 0
    while match := _NAMED.search(line, at):  # a value may be a name itself: `--x HF_TOKEN=...`
        secret = is_secret_name(match["name"])
        end = match.end() if secret else match.end("name")
        hidden = len(match["value"]) if secret and not match["value"].startswith(("$", "-")) else 0
        shown += line[at : end - hidden] + "*" * hidden
        at = end
    shown = _TOKEN.sub(lambda found: "*" * len(found[0]), shown + line[at:])
    return _IN_ADDRESS.sub(lambda found: "//" + "*" * (len(found[0]) - 3) + "@", shown)


def holds_secret(text: str) -> bool:
    """Whether a text holds what looks like a token, or an address with a name and password, whatever it is called."""
    return _TOKEN.search(text) is not None or _IN_ADDRESS.search(text) is not None
