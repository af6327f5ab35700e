"""The fleet on a Dask cluster: a few units in flight, their parts written by the workers.

What is done is known from the parts that are there, never from what the cluster remembers: so a unit whose
worker died, or whose scheduler was out of reach, is given out again. It writes the same part under the same
name, and nothing is there twice.
"""

import queue
import socket
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unjank._errors import EngineError, UnjankError
from unjank.fleet._dataset import Dataset, ErrorLog
from unjank.fleet._extras import require_distributed
from unjank.fleet._job import Job
from unjank.fleet._machine import this_machine
from unjank.fleet._outcome import Failure, Outcome
from unjank.fleet._part import Entry, PartWriter
from unjank.fleet._progress import Progress
from unjank.fleet._storage import open_storage
from unjank.fleet._supervisor import Supervisor
from unjank.fleet._trace import Trace
from unjank.fleet._units import Unit, divide
from unjank.fleet._work import work_on

_PLUGIN = "unjank-fleet"
_IN_FLIGHT_PER_THREAD = 2  # one at work, one waiting at the worker
_TRIES = 5  # of a unit, each with a worker that died under it
_PATIENCE_SECONDS = 600.0  # without a scheduler or workers, before giving up
_CONNECT_SECONDS = 10.0
_LOOK_SECONDS = 1.0  # how often to look at futures that nobody told about

Future = Any  # a distributed.Future, without static type
Client = Any  # a distributed.Client


@dataclass(frozen=True)
class Order:
    """A unit, as it is sent to a worker.

    Attributes:
        number: Tells orders of a run apart.
        unit: The traces.
        job: The question.
        place: Path or URL of the result.
        run: Which run of the command this is.
    """

    number: int
    unit: Unit
    job: Job
    place: str
    run: int


def run_on_dask(
    traces: Sequence[Trace], done: set[str], dataset: Dataset, job: Job, address: str, progress: Progress
) -> None:
    """Works on all traces that are not done.

    Args:
        traces: All traces.
        done: Names of those that are done.
        dataset: Where the result goes; a place that every worker reaches under the same name.
        job: The question. If its share of memory is not decided, each worker decides its own.
        address: Of the scheduler, `tcp://HOST:PORT`.
        progress: Told about each trace.

    Raises:
        EngineError: There is no engine on a worker's machine.
        UnjankError: No scheduler or no workers for ten minutes, or a part cannot be written.
    """
    cluster = _Cluster(address, progress)
    try:
        here = str(Path.cwd())  # workers have another
        placed = [replace(trace, base=trace.base or here) for trace in traces]
        units = list(divide(placed, max(1, cluster.threads()), done))
        orders = [
            Order(number, unit, job, dataset.storage.url, dataset.run) for number, unit in enumerate(units)
        ]
        _Driver(cluster, ErrorLog(dataset), dataset, progress).run(orders)
    finally:
        cluster.close()


def require_address(address: str) -> None:
    """Makes sure that it is an address: a client that is given another one takes long to go away again.

    Raises:
        UnjankError: It is none.
    """
    try:
        require_distributed().comm.get_address_host(address)
    except ValueError as error:
        raise UnjankError(
            f"{address}: is not an address of Dask's: {error}; write it as tcp://HOST:8786"
        ) from error


class _Cluster:
    """The connection to the scheduler, made again when it breaks."""

    def __init__(self, address: str, progress: Progress) -> None:
        self._distributed = require_distributed()
        self._address, self._progress = address, progress
        self._client: Client = None
        self.connect()

    def connect(self) -> None:
        """Connects, and waits for a worker.

        Raises:
            UnjankError: There is none within ten minutes.
        """
        self.close()
        deadline, told = time.monotonic() + _PATIENCE_SECONDS, False
        while self._client is None:
            try:
                self._client = self._connected()
            except (OSError, TimeoutError) as error:
                if time.monotonic() > deadline:
                    raise UnjankError(
                        f"{self._address}: no Dask scheduler with workers there ({error}); "
                        "what is done is kept, go on with --resume"
                    ) from error
                if not told:
                    self._progress.say(f"waiting for a Dask scheduler with workers at {self._address}")
                told = True
                time.sleep(_LOOK_SECONDS)

    def threads(self) -> int:
        """Number of tasks that the workers run at a time."""
        return sum(self._client.nthreads().values())

    def submit(self, order: Order) -> Future:
        """Gives out a unit; the scheduler gives it to another worker if one dies."""
        return self._client.submit(do_order, order, pure=False)

    @property
    def is_connected(self) -> bool:
        """Whether the scheduler is there."""
        return bool(self._client is not None and self._client.status == "running")

    def close(self) -> None:
        """Lets go of the scheduler."""
        client, self._client = self._client, None
        if client is not None:
            client.close(timeout=_CONNECT_SECONDS)

    def _connected(self) -> Client:
        self._require_listener()
        client = self._distributed.Client(
            self._address, timeout=_CONNECT_SECONDS, set_as_default=False, name="unjank-fleet"
        )
        try:
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
            self._equip_workers(client)
        except BaseException:
            client.close(timeout=_CONNECT_SECONDS)
            raise
        return client

    def _require_listener(self) -> None:
        """Raises OSError if nobody listens: a client that never connected takes long to go away again."""
        scheme, location = self._distributed.comm.parse_address(self._address)
        if scheme in ("tcp", "tls"):
            where = self._distributed.comm.parse_host_port(location)
            socket.create_connection(where, timeout=_CONNECT_SECONDS).close()

    def _equip_workers(self, client: Client) -> None:
        try:
            client.register_plugin(make_plugin(), name=_PLUGIN)
        except OSError:
            raise  # the connection broke
        except Exception as error:  # whatever a worker raised, who has another Python or no unjank
            raise UnjankError(
                f"{self._address}: the workers there can't run unjank fleet ({_in_one_line(error)}); "
                "they need the same unjank[fleet]"
            ) from error


class _Driver:
    """Keeps the cluster busy with orders, each until its part is there."""

    def __init__(self, cluster: _Cluster, errors: ErrorLog, dataset: Dataset, progress: Progress) -> None:
        self._cluster, self._errors = cluster, errors
        self._dataset, self._progress = dataset, progress
        self._flying: dict[Future, Order] = {}
        self._landed: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._tries: dict[int, int] = {}

    def run(self, orders: Iterable[Order]) -> None:
        """Works until every order is done."""
        waiting = list(reversed(list(orders)))
        while waiting or self._flying:
            try:
                self._launch(waiting)
                waiting += self._land()
            except (OSError, TimeoutError):
                waiting += self._reconnect()

    def _launch(self, waiting: list[Order]) -> None:
        most = max(1, self._cluster.threads() * _IN_FLIGHT_PER_THREAD)
        while waiting and len(self._flying) < most:
            order = waiting.pop()
            try:
                future = self._cluster.submit(order)
            except BaseException:
                waiting.append(order)
                raise
            self._flying[future] = order
            future.add_done_callback(self._landed.put)

    def _land(self) -> list[Order]:
        """Waits for the next future; returns orders to be given out again."""
        try:
            self._landed.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            if not self._cluster.is_connected:
                raise ConnectionError("the scheduler is out of reach") from None
        again = []
        for future in [future for future in self._flying if future.status != "pending"]:
            again += self._take_in(future, self._flying.pop(future))
        return again

    def _take_in(self, future: Future, order: Order) -> list[Order]:
        if future.status == "finished":
            entries = future.result(timeout=_CONNECT_SECONDS)
            future.release()
            self._note(entries)
            return []
        if future.status == "error":
            error = future.exception(timeout=_CONNECT_SECONDS)
            future.release()
            return self._after_error(order, error)
        return [order]  # lost with the scheduler's memory, or cancelled

    def _after_error(self, order: Order, error: BaseException) -> list[Order]:
        if isinstance(error, EngineError):
            raise error
        self._tries[order.number] = self._tries.get(order.number, 0) + 1
        if self._tries[order.number] < _TRIES:
            return [order]
        if isinstance(error, UnjankError):
            raise error
        self._give_up(order, _in_one_line(error))
        return []

    def _give_up(self, order: Order, cause: str) -> None:
        """Writes the part of a unit that no worker survived: each trace of it an error."""
        writer = PartWriter(order.run)
        for trace in order.unit:
            writer.add(Outcome(trace, failure=Failure("worker", cause)))
        writer.commit(self._dataset.storage)
        self._note(writer.entries)

    def _note(self, entries: tuple[Entry, ...]) -> None:
        self._errors.add(entries)
        for entry in entries:
            self._progress.done(entry)

    def _reconnect(self) -> list[Order]:
        """Makes a new connection; all that was in flight is to be given out again."""
        lost = list(self._flying.values())
        self._flying.clear()
        self._progress.say("the connection to the Dask scheduler broke; connecting again")
        self._cluster.connect()
        return lost


def _in_one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def do_order(order: Order) -> tuple[Entry, ...]:
    """What runs on a worker: does the unit, commits its part; returns what became of its traces."""
    supervisors = require_distributed().get_worker().plugins[_PLUGIN].supervisors
    supervisor = supervisors.take(order.job)
    try:
        entries = work_on(order.unit, supervisor, open_storage(order.place), order.run, lambda _entry: None)
    except BaseException:
        supervisor.close()
        raise
    supervisors.give_back(order.job, supervisor)
    return tuple(replace(entry, notes=()) for entry in entries)  # those are in the part


class SupervisorPool:
    """The worker processes of a Dask worker: as many as it has threads at work, kept from unit to unit."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._idle: list[tuple[Job, Supervisor]] = []
        self._closed = False
        self._lock = threading.Lock()

    def take(self, job: Job) -> Supervisor:
        """An idle one for this job, else a new one; idle ones of other jobs are ended."""
        with self._lock:
            idle, self._idle = self._idle, []
            fitting = [supervisor for known, supervisor in idle if known == job]
            self._idle = [(job, supervisor) for supervisor in fitting[1:]]
        for known, supervisor in idle:
            if known != job:
                supervisor.close()
        return fitting[0] if fitting else Supervisor(self._sized(job))

    def give_back(self, job: Job, supervisor: Supervisor) -> None:
        """Keeps a supervisor for the next unit; where the pool was closed meanwhile, ends it."""
        with self._lock:
            closed = self._closed
            if not closed:
                self._idle.append((job, supervisor))
        if closed:
            supervisor.close()

    def close(self) -> None:
        """Ends all that are idle, and the others when they are given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for _, supervisor in idle:
            supervisor.close()

    def _sized(self, job: Job) -> Job:
        share = job.limits.memory_bytes or this_machine().share_of(self._threads)
        return replace(job, limits=replace(job.limits, memory_bytes=share))


def make_plugin() -> Any:  # noqa: ANN401  its class is one of distributed's, which may not be there
    """What every Dask worker gets: a pool of supervisors, ended with the worker."""
    base: type = require_distributed().WorkerPlugin

    class FleetPlugin(base):  # type: ignore[misc]  # of a module that is imported on use
        """Keeps the pool; the scheduler gives it to workers that come later as well."""

        def setup(self, worker: Any) -> None:  # noqa: ANN401  a distributed.Worker
            """Called on the worker."""
            self.supervisors = SupervisorPool(worker.state.nthreads)

        def teardown(self, worker: Any) -> None:  # noqa: ANN401, ARG002  distributed's signature
            """Called on the worker, before it ends."""
            self.supervisors.close()

    return FleetPlugin()
