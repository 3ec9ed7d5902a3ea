"""Zones of the imaginary account: ids, names and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.zones import REGIONS, region, zone_id, zone_ids, zone_name


def test_zone_ids_name_region_and_letter() -> None:
    assert region("apne1-az4") == "ap-northeast-1"
    assert zone_name("use1-az2") == "us-east-1b"


@given(st.sampled_from(sorted(REGIONS.values())))
def test_every_zone_of_a_region_has_a_name_that_leads_back(name: str) -> None:
    ids = zone_ids(name)
    assert len(ids) >= 3
    assert [zone_id(zone_name(zone)) for zone in ids] == ids
    assert {region(zone) for zone in ids} == {name}


@pytest.mark.parametrize("name", ["us-east-1", "us-east-1z", "mars-1a", ""])
def test_what_is_no_zone_is_named(name: str) -> None:
    with pytest.raises(ValueError, match="no availability zone"):
        zone_id(name)
