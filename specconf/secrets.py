"""What is a secret: names that hold one, which belong in the environment and never in a spec, and what an address carries."""

from __future__ import annotations

import re

_OPTION = re.compile(
    r"(^|_)((hf|hugging_?face|auth|access|api|bearer|github|wandb)_token"
    r"|api_?key|access_?key|private_?key|secret(_?key)?|password|passwd)$",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"^([A-Z0-9_]*_)?(TOKEN|SECRET|PASSWORD|PASSWD|KEY|CREDENTIALS)$")
_IN_ADDRESS = re.compile(r"//[^/@\s]+@")


def is_secret_name(name: str) -> bool:
    """Whether an option, key or variable of this name holds a secret (`HF_TOKEN`, `api-key`; not `num_draft_tokens`)."""
    own = name.rpartition(".")[2].lstrip("-").replace("-", "_")
    return _OPTION.search(own) is not None or _VARIABLE.match(own) is not None


def without_credentials(text: str) -> str:
    """A text without the names and passwords that addresses in it carry."""
    return _IN_ADDRESS.sub("//***@", text)
