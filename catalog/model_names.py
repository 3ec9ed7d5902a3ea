"""How model names are folded: organisation, quantisation suffix, tuning suffix.

Names on a hub follow habits, not rules; what is known here are the habits of the large publishers.
"""

from __future__ import annotations

import re
from typing import Literal

QuantisedDtype = Literal["fp8", "int8", "int4", "nf4", "mxfp4", "nvfp4", "q8_0"]

# Suffixes that say how weights are stored; the first that fits is taken (w4a16, AWQ and GPTQ all hold 4-bit integers).
_QUANTISATIONS: tuple[tuple[re.Pattern[str], QuantisedDtype], ...] = (
    (re.compile(r"[-_. ](unsloth-)?bnb-4bit$"), "nf4"),
    (re.compile(r"[-_. ]mxfp4$"), "mxfp4"),
    (re.compile(r"[-_. ](nvfp4|fp4)$"), "nvfp4"),
    (re.compile(r"([-_. ]q8_0)?[-_. ]gguf$|[-_. ]q8_0$"), "q8_0"),
    (re.compile(r"([-_. ](gptq|quantized))?[-_. ](w8a8|w8a16|int8|8bit)$"), "int8"),
    (re.compile(r"[-_. ]fp8([-_. ](dynamic|kv|block|static))*$"), "fp8"),
    (
        re.compile(
            r"([-_. ](gptq|awq|autoround|quantized))?[-_. ](w4a16|int4|4bit|4b|awq|gptq)([-_. ](marlin|g?128g?))?$"
        ),
        "int4",
    ),
)
_TUNINGS = re.compile(r"[-_](instruct|chat|it|hf|base|pt)$")


def bare_name(name: str) -> str:
    """The last part of an id or path, lower case: ``/models/Qwen3-32B/`` → ``qwen3-32b``."""
    return name.rstrip("/").rsplit("/", 1)[-1].lower()


def _without_quantisation(bare: str) -> str:
    for pattern, _ in _QUANTISATIONS:
        bare = pattern.sub("", bare)
    return bare


def quantisation_of(name: str) -> QuantisedDtype | None:
    """How the name says that weights are stored, or None where it does not say."""
    bare = bare_name(name)
    for pattern, dtype in _QUANTISATIONS:
        if pattern.search(bare):
            return dtype
    return None


def family_name(name: str) -> str:
    """The name without organisation, quantisation and tuning: two spellings of one set of dimensions fold together."""
    bare = _without_quantisation(bare_name(name)).removeprefix("meta-")
    while (shorter := _TUNINGS.sub("", bare)) != bare:
        bare = shorter
    return bare
