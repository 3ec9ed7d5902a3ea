"""USD an hour and a million tokens, from dated list prices; a price that is not known stays unknown."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.instance_types import Price, instance_type, prices

_SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class Cost:
    """USD an hour for a number of GPUs, by one price kind, with the price it comes from."""

    usd_per_hour: float
    price: Price

    def usd_per_million_tokens(self, tokens_per_second: float) -> float:
        """USD for a million tokens at a steady ``tokens_per_second`` (above 0)."""
        return self.usd_per_hour / (tokens_per_second * _SECONDS_PER_HOUR) * 1e6


def gpu_costs(instance_name: str, gpus: float) -> tuple[Cost, ...]:
    """The cost of ``gpus`` GPUs of an instance type by price kind, its share of the whole instance each.

    Raises:
        UnknownFactError: no such instance type.
    """
    whole = instance_type(instance_name).gpus
    return tuple(Cost(price.usd_per_hour * gpus / whole, price) for price in prices(instance_name)) if whole else ()
