"""Exceptions as entries of a ConfigMap."""

from __future__ import annotations

import datetime
import re

from hypothesis import given
from hypothesis import strategies as st

from policies.admission.exceptions import AdmissionException, config_map_body

UNTIL = datetime.date(2027, 1, 31)
label = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
name = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,8}[a-z0-9])?", fullmatch=True)
exception = st.builds(
    AdmissionException,
    rule=label,
    namespace=label,
    object=st.builds("{}/{}".format, st.sampled_from(["Deployment", "Pod", "LeaderWorkerSet"]), name),
    reason=st.just("a reason"),
    owner=st.just("an owner"),
    until=st.just(UNTIL),
)


@given(st.lists(exception, max_size=6, unique_by=lambda item: (item.rule, item.namespace, item.object)))
def test_each_exception_has_a_legal_key_of_its_own(exceptions: list[AdmissionException]) -> None:
    data = config_map_body("only-administrators", exceptions)["data"]
    assert len(data) == len(exceptions)
    assert all(re.fullmatch(r"[-._a-zA-Z0-9]+", key) for key in data)


def test_an_entry_says_why_who_and_until_when() -> None:
    item = AdmissionException("shm-size", "llm", "Deployment/chat.v2", "moves to 16Gi", "ml-team", UNTIL)
    assert config_map_body("only-administrators", [item])["data"] == {
        "shm-size.llm.Deployment.chat.v2": "reason: moves to 16Gi; owner: ml-team; until: 2027-01-31"
    }
