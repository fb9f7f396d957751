"""Slow cases are few, and say why they are."""

import pytest

from budget import SLOW


def test_slow_cases_are_few_and_each_has_its_reason(pytestconfig: pytest.Config) -> None:
    slow = pytestconfig.stash[SLOW]
    assert len(slow) <= 70
    assert [name for name, mark in slow.items() if not mark.kwargs.get("reason")] == []
