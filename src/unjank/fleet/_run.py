"""One call from traces to a result."""

import os
import tempfile
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from typing import Protocol

from unjank._errors import QueryError, UnjankError
from unjank.fleet._dataset import Dataset, Totals, locked
from unjank.fleet._extras import require_fleet_extra
from unjank.fleet._inputs import Source, find_traces
from unjank.fleet._job import Job, Limits
from unjank.fleet._local import run_here
from unjank.fleet._machine import this_machine
from unjank.fleet._progress import Progress, Silence
from unjank.fleet._result import FleetResult
from unjank.fleet._storage import Storage, open_storage
from unjank.fleet._supervisor import Supervisor
from unjank.fleet._trace import Trace
from unjank.fleet._units import Unit, divide


class ShowProgress(Protocol):
    """Makes what is told about the progress, once it is known how many traces there are."""

    def __call__(self, total: int) -> AbstractContextManager[Progress]:
        """`total` traces are to come."""


def run_fleet(
    traces: Source | Iterable[Source],
    sql: str | None = None,
    output: str | os.PathLike[str] | None = None,
    *,
    workers: int | None = None,
    dask: str | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    accept_incomplete: bool = False,
    limits: Limits | None = None,
    engine: str | None = None,
    shell_path: str | os.PathLike[str] | None = None,
    show_progress: ShowProgress | None = None,
) -> FleetResult:
    """Asks every trace the same question and gathers the rows.

    A trace that cannot be read, or takes more than its limits, becomes a row of the table of errors; the
    others are not touched by it.

    Args:
        traces: Paths, folders, globs, fsspec URLs, `@FILE` with names; see `find_traces`.
        sql: PerfettoSQL, of which the last statement's rows count; None asks for the built-in findings.
        output: Folder of the result, by path or fsspec URL; None is one that goes with the result.
        workers: Processes; None is as many as CPUs and memory allow.
        dask: Address of a Dask scheduler whose workers do the work instead.
        resume: Go on with the result in `output`.
        retry_failed: When going on, try the failed traces again.
        accept_incomplete: Take what is left of traces that are cut off or damaged, rather than fail them.
        limits: What one trace may take.
        engine: As for `unjank.TraceProcessor`.
        shell_path: The trace_processor_shell, for engine `shell`.
        show_progress: Makes the receiver of what is done; None for none.

    Raises:
        QueryError: The SQL cannot work on any trace.
        EngineError: There is no engine on this machine.
        UnjankError: No traces, a folder or address that is none, or a package that is not installed.
    """
    if workers is not None and dask is not None:
        raise UnjankError("workers are processes here, and a Dask cluster has its own; give one of the two")
    require_fleet_extra()
    if dask is not None:
        from unjank.fleet._dask import require_address

        require_address(dask)
    storage, temporary = _place(output)
    found = [trace for trace in find_traces(traces) if not storage.holds(trace.name)]
    if not found:
        raise UnjankError(f"{storage.url}: the traces named are files of the result itself; name others")
    shell = os.fspath(shell_path) if shell_path is not None else None
    job = Job(sql, engine or ("shell" if shell else None), shell, limits or Limits(), accept_incomplete)
    with locked(storage):
        plan = _Plan(storage, job, found, workers, dask, show_progress or _no_progress)
        dataset, totals = plan.carry_out(resume=resume, retry_failed=retry_failed)
    return FleetResult(dataset, totals, temporary)


def _place(
    output: str | os.PathLike[str] | None,
) -> "tuple[Storage, tempfile.TemporaryDirectory[str] | None]":
    if output is not None:
        return open_storage(output), None
    temporary = tempfile.TemporaryDirectory(prefix="unjank-fleet-")
    return open_storage(temporary.name), temporary


class _Plan:
    """Who does what."""

    def __init__(
        self,
        storage: Storage,
        job: Job,
        traces: list[Trace],
        workers: int | None,
        dask: str | None,
        show_progress: ShowProgress,
    ) -> None:
        machine = this_machine()
        self._storage, self._job, self._traces = storage, job, traces
        if workers is not None and workers < 1:
            raise UnjankError(f"{workers} workers can do nothing; give 1 or more")
        self._workers = min(workers or machine.default_workers(), len(traces))
        self._dask, self._show_progress = dask, show_progress
        share = job.limits.memory_bytes or machine.share_of(self._workers)
        self._job_here = replace(job, limits=replace(job.limits, memory_bytes=share))

    def carry_out(self, *, resume: bool, retry_failed: bool) -> tuple[Dataset, Totals]:
        """Does what is not done, and finishes the result, also when interrupted."""
        with ExitStack() as stack:
            count = 1 if self._dask else self._workers
            crew = [stack.enter_context(Supervisor(self._job_here)) for _ in range(count)]
            for supervisor in crew:
                supervisor.prepare()
            self._check_sql(crew[0])
            dataset = Dataset.begin(self._storage, self._job, resume=resume)
            return self._carry_out_with(crew, dataset, resume=resume, retry_failed=retry_failed)

    def _carry_out_with(
        self, crew: list[Supervisor], dataset: Dataset, *, resume: bool, retry_failed: bool
    ) -> tuple[Dataset, Totals]:
        done = dataset.done(retry_failed=retry_failed) if resume else set()
        todo = sum(trace.label not in done for trace in self._traces)
        try:
            if todo:
                with self._show_progress(todo) as progress:
                    self._work(crew, dataset, done, progress)
        finally:
            totals = dataset.finish()
        return dataset, totals

    def _work(self, crew: list[Supervisor], dataset: Dataset, done: set[str], progress: Progress) -> None:
        if self._dask is None:
            units: Iterable[Unit] = divide(self._traces, self._workers, done)
            run_here(units, dataset, crew, progress)
            return
        crew[0].close()  # it has checked the SQL
        from unjank.fleet._dask import run_on_dask

        run_on_dask(self._traces, done, dataset, self._job, self._dask, progress)

    def _check_sql(self, supervisor: Supervisor) -> None:
        failure = supervisor.check()
        if failure and self._job.sql is not None:
            raise QueryError(f"{failure.cause} (asked a trace without events)")


def _no_progress(total: int) -> AbstractContextManager[Progress]:
    del total  # nobody looks
    return nullcontext(Silence())
