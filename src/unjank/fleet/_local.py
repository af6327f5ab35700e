"""The fleet on this machine: a thread and a process for each worker."""

import queue
import threading
from collections.abc import Iterable
from typing import Any

from unjank.fleet._dataset import Dataset, ErrorLog
from unjank.fleet._progress import Progress
from unjank.fleet._supervisor import StoppedError, Supervisor
from unjank.fleet._units import Unit
from unjank.fleet._work import work_on

_WAIT_SECONDS = 0.25


def run_here(units: Iterable[Unit], dataset: Dataset, crew: list[Supervisor], progress: Progress) -> None:
    """Works on all units.

    Ctrl-C ends the traces at work and commits what is done.

    Args:
        units: What is to be done.
        dataset: Where it goes.
        crew: The workers.
        progress: Told about each trace.

    Raises:
        EngineError: There is no engine on this machine.
        UnjankError: The result cannot be written.
    """
    work = _Work(units, dataset, crew, progress)
    try:
        work.run()
    finally:
        work.stop()


class _Work:
    """Workers that take units from one queue."""

    def __init__(
        self, units: Iterable[Unit], dataset: Dataset, supervisors: list[Supervisor], progress: Progress
    ) -> None:
        self._dataset, self._progress = dataset, progress
        self._errors = ErrorLog(dataset)
        self._units: queue.SimpleQueue[Unit | None] = queue.SimpleQueue()
        for unit in (*units, *(None for _ in supervisors)):
            self._units.put(unit)
        self._supervisors = supervisors
        self._ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, args=(supervisor,), name=f"unjank fleet {index}")
            for index, supervisor in enumerate(self._supervisors)
        ]

    def run(self) -> None:
        """Works until all is done, or a worker meets an error that is not a trace's."""
        for thread in self._threads:
            thread.start()
        for _ in self._threads:
            error = self._next_end()
            if error:
                raise error

    def stop(self) -> None:
        """Stops what still works, and waits for it to commit what it has."""
        for supervisor in self._supervisors:
            supervisor.stop()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _next_end(self) -> BaseException | None:
        while True:
            try:
                # In pieces: polars, once imported, has system calls restarted after a signal, so that Python
                # would not see Ctrl-C before a wait without end is over.
                return self._ended.get(timeout=_WAIT_SECONDS)
            except queue.Empty:
                continue

    def _work(self, supervisor: Supervisor) -> None:
        error: BaseException | None = None
        try:
            with supervisor:
                self._work_units(supervisor)
        except StoppedError:
            pass  # by `stop`, which knows why
        except BaseException as raised:
            error = raised  # raised again by the thread that waits
        self._ended.put(error)

    def _work_units(self, supervisor: Supervisor) -> None:
        tell: Any = self._progress.done
        while (unit := self._units.get()) is not None:
            done = work_on(unit, supervisor, self._dataset.storage, self._dataset.run, tell)
            self._errors.add(done)
