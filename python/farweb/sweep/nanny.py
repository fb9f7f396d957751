"""Parents of worker processes that start them again, also when they die while starting.

Dask's own give up when a start raises, and try without end when the process is killed each time.
"""

import contextlib
from typing import Literal

from distributed import Nanny
from distributed.core import Status

STARTS = 3
"""Times that a worker is started in a row without success. Chosen: what kills it each time will not pass."""


class PersistentNanny(Nanny):
    """Starts a worker that dies while it starts up to `STARTS` times in a row, and closes itself then."""

    _starting = False

    async def instantiate(self) -> Status:
        """Start the worker process."""
        if self._starting:
            return self.status
        self._starting = True
        cause = None
        try:
            for _ in range(STARTS):
                if self.status in (Status.closing, Status.closed):  # the sweep has ended meanwhile
                    break
                try:
                    if await super().instantiate() == Status.running:
                        return Status.running
                except Exception as error:  # which Dask has logged
                    cause = error
                with contextlib.suppress(Exception):
                    await self.kill()
                self.process = None
        finally:
            self._starting = False
        await self.close(reason="worker-does-not-start")
        if cause is not None:
            raise cause
        return Status.failed

    async def _on_worker_exit(self, exitcode: int) -> None:
        if not self._starting:  # which sees to it
            await super()._on_worker_exit(exitcode)

    async def close(self, timeout: float = 5, reason: str = "nanny-close") -> Literal["OK"]:  # type: ignore[override]
        """Close, but not because one of several starts has failed."""
        if self._starting and reason == "nanny-instantiate-failed":
            return "OK"
        return await super().close(timeout, reason)
