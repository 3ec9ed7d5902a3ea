"""Container image references: repository, tag, digest, and the vLLM version that a tag states."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from catalog.facts import UnknownFactError
from catalog.vllm_versions import VllmVersion, vllm_version

_RELEASE = r"(\d+\.\d+\.\d+(?:\.post\d+|rc\d+)?)"
_STOCK_TAG = re.compile(rf"v?{_RELEASE}(?:[-_+.].*)?")
_NAMED_TAG = re.compile(rf"(?:^|[-_])vllm[-_]v?{_RELEASE}(?![\d.])")


@dataclass(frozen=True)
class Image:
    """A parsed reference. ``repository`` keeps the registry; ``tag`` and ``digest`` are empty where not stated."""

    repository: str
    tag: str
    digest: str

    @property
    def name(self) -> str:
        """The repository's last part."""
        return self.repository.rsplit("/", 1)[-1]

    @property
    def is_stock_vllm(self) -> bool:
        """Whether it is vLLM's own image, from any registry's mirror (other projects publish a ``vllm-openai`` too)."""
        return self.name == "vllm-openai" and not re.search(r"(^|/)lmcache/", self.repository)

    @property
    def is_aws_vllm(self) -> bool:
        """Whether it is AWS's deep learning container for vLLM: EFA inside, ``vllm serve`` as entrypoint."""
        return "deep-learning-containers" in self.repository and "vllm" in self.name

    @property
    def mentions_vllm(self) -> bool:
        """Whether name or tag say vLLM: then arguments without a command most likely go to ``vllm serve``."""
        return "vllm" in self.name.lower() or "vllm" in self.tag.lower()

    @cached_property
    def vllm_version(self) -> VllmVersion | None:
        """The vLLM version that the tag states, or None where it doesn't say."""
        match = _STOCK_TAG.fullmatch(self.tag) if self.is_stock_vllm else _NAMED_TAG.search(self.tag)
        if match is None and self.is_aws_vllm:
            match = re.match(rf"{_RELEASE}-", self.tag)
        if match is None:
            return None
        try:
            return vllm_version(match.group(1))
        except UnknownFactError:
            return None


@lru_cache(maxsize=8192)
def image(reference: str) -> Image:
    """``registry:5000/owner/name:tag@sha256:…`` in its parts."""
    rest, _, digest = reference.strip().partition("@")
    repository, colon, tag = rest.rpartition(":")
    if not colon or "/" in tag:  # the colon of a registry's port
        repository, tag = rest, ""
    return Image(repository, tag, digest)
