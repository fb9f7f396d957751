"""Running what tests ask for side by side: it mostly waits, for delays and timers."""

from collections.abc import Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import pytest
from namespaces import delete_leftovers

AT_A_TIME = 24


class Case(Hashable, Protocol):
    """Something that takes a while, and that a test is about."""

    def run(self) -> Any:
        """Do it, and give what came of it."""


AnyCase = TypeVar("AnyCase", bound=Case)


@contextmanager
def under_way(module: pytest.Module, kind: type[AnyCase]) -> Iterator[Mapping[AnyCase, Future[Any]]]:
    """Cases of a kind that the chosen tests of a module have as their parameter `case`, each of them once."""
    delete_leftovers()
    items = [item for item in module.session.items if item.getparent(pytest.Module) is module]
    parameters = [item.callspec.params.get("case") for item in items if hasattr(item, "callspec")]
    cases = dict.fromkeys(case for case in parameters if isinstance(case, kind))
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        yield {case: pool.submit(case.run) for case in cases}
