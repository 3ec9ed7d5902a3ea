"""What of a property's value is shown. A comment is public: in doubt, nothing.

The engine writes values that a program marked as secret as ``[secret]``. What a program forgot to mark is found by the
name of the property or of the environment variable, and by the shape of the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from report.property_paths import Path, below

VALUE_LENGTH = 120
_READ_CHARACTERS = 4_000
"""Of a message; far more than is shown, little enough for patterns that read a long run again from each place."""
SECRET = "(secret)"  # noqa: S105 - the word that stands in its place
MARKED = "[secret]"
"""How the engine's events show a value that is marked as secret."""
UNKNOWN = frozenset({"04da6b54-80e4-46f7-96ec-b56ff0331ba9", "[unknown]", "output<string>"})
"""How the engine's events show a value that a preview doesn't know yet (sdk/go plugin.UnknownStringValue)."""

# Whole words of a name in any spelling; `token` in hugging_face_token, apiKey, API_KEY; not monkey or max_tokens.
_SECRET_NAME = re.compile(
    r"(?<![a-z])(passw(or)?d|passphrase|pwd|secrets?|credentials?|token|bearer|auth|authorization|cookie"
    r"|(private|api|access|license|signing|encryption)[-_. ]?keys?|encryption[-_. ]?salt"
    r"|kubeconfig|user[-_. ]?data|certificate[-_. ]?authority|connection[-_. ]?strings?|dsn|webhooks?)(?![a-z])",
)
_SECRET_VALUE = re.compile(
    r"hf_[A-Za-z0-9]{8,}"  # Hugging Face
    r"|(AKIA|ASIA)[A-Z0-9]{12,}"  # AWS access keys
    r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}"  # GitHub
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{6,}"  # JSON web tokens
    r"|sk-[A-Za-z0-9_-]{16,}|xox[abpr]-[A-Za-z0-9-]{10,}"  # OpenAI and the like, Slack
    r"|-----BEGIN"  # keys, certificates
    r"|//[^/\s:@]*:[^/\s@]+@"  # a password in an URL
    r"|(?i:--[a-z-]*(key|token|password|secret)[= ]\S+)"  # --api-key abc
    r"|(?i:(key|token|passw(or)?d|secret)[\"']?\s*[=:]\s*(?=\S*\d)\S{6,})"  # TOKEN: abc123
    # A long run that looks random; image digests and resource ids (which are all lower case) don't.
    r"|(?=[A-Za-z0-9+/=_]*[a-z])(?=[A-Za-z0-9+/=_]*[A-Z])(?=[A-Za-z0-9+/=_]*[0-9])[A-Za-z0-9+/=_]{32,}"
)


def _words(name: str) -> str:
    """``apiKey`` and ``API_KEY`` alike as ``api_key``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def secret_name(name: str) -> bool:
    """Whether a property or variable of this name may hold a secret."""
    return _SECRET_NAME.search(_words(name)) is not None


def scrubbed(text: str) -> str:
    """The beginning of a message, without what looks like a secret in it."""
    return _SECRET_VALUE.sub(SECRET, text[:_READ_CHARACTERS])


def hidden(resource_type: str, path: Path, body: Any) -> bool:
    """Whether the value at ``path`` of a resource's ``body`` is not to be shown, whatever it is."""
    if resource_type.endswith(":Secret") or ":secretsmanager/" in resource_type or ":ssm/parameter" in resource_type:
        return True
    here = body
    for step in path:
        # Entries of `env`, `headers`, `set`: the name of what `value` holds stands beside it.
        if isinstance(here, Mapping) and secret_name(str(here.get("name", ""))):
            return True
        if isinstance(step, str) and secret_name(step):
            return True
        here = below(here, step)
        if here == MARKED:
            return True
    return False


def shown(value: Any) -> str:
    """A value that may be shown, as one short text; what looks like a secret stays out."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):  # as JSON has them; most are whole
        return str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return f"(object with {len(value)} keys)"
    if isinstance(value, str):
        return _shown_text(value)
    return f"(list of {len(value)})"


def _shown_text(value: str) -> str:
    if value == MARKED:
        return SECRET
    if value in UNKNOWN:
        return "(known after the deployment)"
    if "\n" in value or len(value) > VALUE_LENGTH:
        return f"(text of {len(value)} characters)"
    return scrubbed(value)
