"""Ports stay where they are, and move only when another program has taken them."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.errors import SandboxError
from sandbox.ports import FIRST_PORT, LAST_PORT, PORT_NAMES, is_free, settle

FOLDER = Path("/clone/.sandbox")
PORTS = st.integers(FIRST_PORT, LAST_PORT)


@given(taken=st.sets(PORTS, max_size=50), folder=st.text(min_size=1), data=st.data())
def test_ports_are_distinct_free_and_stable(taken: set[int], folder: str, data: st.DataObject) -> None:
    path = Path("/") / folder.replace("\0", "")
    first = settle({}, (), path, lambda port: port not in taken)
    assert set(first) == set(PORT_NAMES)
    assert len(set(first.values())) == len(PORT_NAMES)
    assert not taken & set(first.values())
    assert settle(first, (), path, lambda port: port not in taken) == first

    lost = data.draw(st.sampled_from(PORT_NAMES))
    moved = settle(first, (), path, lambda port: port not in taken | {first[lost]})
    assert moved[lost] != first[lost]
    assert {name: port for name, port in moved.items() if name != lost} == {
        name: port for name, port in first.items() if name != lost
    }


def test_a_port_held_by_its_own_part_is_kept() -> None:
    first = settle({}, (), FOLDER, lambda port: True)
    again = settle(first, ("kwok",), FOLDER, lambda port: port != first["kwok"])
    assert again == first


def test_no_port_left() -> None:
    with pytest.raises(SandboxError, match="No free loopback port"):
        settle({}, (), FOLDER, lambda port: False)


def test_a_listening_program_takes_its_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)
