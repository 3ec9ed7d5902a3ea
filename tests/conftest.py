"""Options and fixtures that every test may use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml


class _PlainDumper(yaml.SafeDumper):
    """Without anchors: a golden file is read by people."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write the golden files anew; review them as a diff.")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, Any], None]:
    """Compares a value with tests/golden/<name>, as YAML with sorted keys."""

    def compare(name: str, value: Any) -> None:
        path = GOLDEN / name
        text = yaml.dump(value, Dumper=_PlainDumper, sort_keys=True, width=120)
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{path} differs; if that is meant: pytest --update-golden"

    return compare
