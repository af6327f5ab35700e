"""perfetto's `TraceProcessor`, running on the engine in this process."""

import http.client
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, ClassVar, Literal

from perfetto.common.exceptions import PerfettoException
from perfetto.trace_processor.api import TraceProcessor as PerfettoTraceProcessor
from perfetto.trace_processor.api import TraceProcessorConfig
from perfetto.trace_processor.backend import TraceProcessorBackend

from unjank.trace.backend import EngineBackend
from unjank.trace.engine.modules import Bits
from unjank.trace.errors import EngineDiedError, EngineUnavailableError, SqlError, TraceLoadError
from unjank.trace.notes import STATS_SQL, cut_off_note, stats_notes
from unjank.trace.protos import shared_protos
from unjank.trace.rows import ResultBatch, Row, unique_names
from unjank.trace.salvage import Salvaged, is_cut_off_zip, salvage
from unjank.trace.shell import find_shell
from unjank.trace.source import TraceSource, needs_wide_memory, open_source
from unjank.trace.sql_errors import sql_error
from unjank.trace.sql_packages import read_sql_package

EngineName = Literal["wasm", "wasm64", "shell"]
_ENGINES = ("wasm", "wasm64", "shell")
# The columns of no rows that statements of PerfettoSQL's own, such as INCLUDE, give.
_NO_RESULT = ("0",)
# The engine's memory never shrinks: beyond this a new engine is cheaper than the memory.
_LARGEST_REUSED_BYTES = 512 << 20


class TraceProcessor(PerfettoTraceProcessor):
    """Loads a trace and answers SQL about it; used as perfetto's class of the same name.

    Args:
        trace: path, open binary file, bytes, iterator of bytes, or a URI or resolver of perfetto's.
        addr: deprecated in perfetto; use `remote`.
        config: perfetto's options. Of them the in-process engine knows `ingest_ftrace_in_raw`,
            `add_sql_packages` and `resolver_registry`; `bin_path` chooses the shell.
        file_path: deprecated in perfetto; use `trace`.
        metadata: perfetto's, unused there as well.
        remote: a running trace processor to connect to, instead of an engine of one's own.
        engine: "wasm", the engine in this process, which changes to 64-bit memory by itself where a trace
            needs it; "wasm64", the same with 64-bit memory from the start; or "shell", a
            trace_processor_shell.
        shell_path: the shell; without it the one on PATH. It is never downloaded.
        memory_limit: bytes that the memory of the engine in this process may grow to; one that needs more
            dies. None is all that it can address.

    Attributes:
        notes: what the user should know: that the trace is cut off, that data was lost while recording.
        incomplete: the note that says the trace is cut off or damaged, so that only a part of it was loaded;
            empty for a whole one.

    Raises:
        TraceLoadError: the trace can't be read. It is a TraceError, and a perfetto TraceProcessorException.
        EngineUnavailableError: there is no engine, or an option it does not know.

    An object belongs to the thread that made it. It may be closed from any thread.
    """

    # Bytes the 32-bit engine's memory may grow to; None is all that 32 bits address. Lowered by tests.
    _narrow_heap_limit: ClassVar[int | None] = None

    def __init__(
        self,
        trace: Any = None,  # noqa: ANN401  perfetto's TraceReference has no static type
        addr: str | None = None,
        config: TraceProcessorConfig | None = None,
        file_path: str | None = None,
        metadata: dict[str, str] | None = None,
        remote: str | None = None,
        *,
        engine: EngineName | None = None,
        shell_path: str | os.PathLike[str] | None = None,
        memory_limit: int | None = None,
    ) -> None:
        config = copy(config) if config else TraceProcessorConfig()  # the shell's path is put into it
        self._shell_path = shell_path or config.bin_path
        self._engine_name = _choose_engine(engine, self._shell_path)
        self._memory_limit = memory_limit
        self._source: TraceSource | None = None
        self._loaded = False
        self.notes: list[str] = []
        self.incomplete = ""
        if isinstance(trace, (str, bytes, bytearray, memoryview)) and not trace:
            raise TraceLoadError("the trace is empty")  # perfetto would take it for none
        with self._explained(self._load_error):
            super().__init__(trace, addr, config, file_path, metadata, remote)

    @property
    def engine(self) -> str:
        """The engine at work: "wasm", "wasm64", "shell" or "remote"."""
        if isinstance(self._backend, EngineBackend):
            return "wasm64" if self._backend.instance.bits == 64 else "wasm"
        return "shell" if self.subprocess else "remote"

    def load(self, trace: Any) -> None:  # noqa: ANN401  perfetto's TraceReference has no static type
        """Loads a trace in place of the one that was there; what was made in that one's SQL is gone.

        The engine in this process is used again, which takes a third of the time that a new one takes. One
        that died, or grew large, is replaced. An object that failed to load may load another.

        Raises:
            TraceLoadError: the trace can't be read.
            EngineUnavailableError: closed, or an engine outside this process, which loads one trace only.
        """
        if not isinstance(self._backend, EngineBackend):
            raise EngineUnavailableError("only the engine in this process can load another trace")
        self._source, self._loaded, self.notes, self.incomplete = None, False, [], ""
        with self._explained(self._load_error):
            bits: Bits = 64 if self._engine_name == "wasm64" else 32
            if self._backend.instance.is_reusable(bits, _LARGEST_REUSED_BYTES):
                self._prepare(self._backend)
            else:
                self._replace_engine(bits)
            self._parse_trace(trace)

    def query(self, sql: str) -> Any:  # noqa: ANN401  perfetto's QueryResultIterator
        """Runs SQL and returns perfetto's iterator over the rows of the last statement.

        Raises:
            SqlError: a statement is wrong. It is a QueryError, and a perfetto TraceProcessorException.
            TraceLoadError: the engine died of it.
        """
        with self._explained(self._sql_error):
            return super().query(sql)

    def rows(self, sql: str) -> list[Row]:
        """Runs SQL and returns the rows of the last statement, each a dict by column name.

        A repeated column name gets `:1`, `:2`, … appended. Raises as `query` does.
        """
        found: list[Row] = []

        def collect(batch: ResultBatch) -> None:
            names = unique_names(batch.columns)
            found.extend(dict(zip(names, row, strict=True)) for row in batch.rows())

        self.stream(sql, collect)
        return found

    def stream(self, sql: str, on_batch: Callable[[ResultBatch], None]) -> None:
        """Runs SQL and hands over the last statement's rows while the engine finds them.

        Memory stays bounded however long the result is. `on_batch` is called at least once, so that the
        columns of an empty result are known; it must not use this object. An exception it raises ends the
        engine, which is in the middle of the query, and is passed on. Otherwise raises as `query` does.
        """
        if isinstance(self._backend, EngineBackend):
            with self._explained(self._sql_error):
                _stream_from_engine(self._backend, sql, on_batch)
            return
        with self._explained(self._sql_error):
            result = self._backend.execute_query(sql)
        for cells in result.batch:
            on_batch(_batch(tuple(result.column_names), cells))
        if result.error:
            raise self._sql_error(result.error)

    def metric(self, metrics: list[str]) -> Any:  # noqa: ANN401  a TraceMetrics message
        """As perfetto's. Raises SqlError for an unknown metric, TraceLoadError where the engine dies."""
        with self._explained(_request_error):
            return super().metric(metrics)

    def trace_summary(
        self,
        specs: list[str | bytes],
        metric_ids: list[str] | None = None,
        metadata_query_id: str | None = None,
    ) -> Any:  # noqa: ANN401  a TraceSummary message
        """As perfetto's. Raises SqlError for a wrong specification, TraceLoadError where the engine dies."""
        with self._explained(_request_error):
            return super().trace_summary(specs, metric_ids, metadata_query_id)

    def close(self) -> None:
        """Frees the engine; may be called again, and from any thread while no query runs."""
        if hasattr(self, "_backend"):
            self._backend.close()

    def _create_backend(self, remote: str | None, addr: str | None) -> TraceProcessorBackend:
        self.protos = shared_protos()
        if self._engine_name != "shell" and not remote and not addr:
            return self._engine_backend(64 if self._engine_name == "wasm64" else 32)
        if self._engine_name == "shell":
            self.config.bin_path = find_shell(self._shell_path)
        try:
            return super()._create_backend(remote, addr)
        except (PerfettoException, OSError) as error:
            raise EngineUnavailableError(" ".join(str(error).split())) from error

    def _engine_backend(self, bits: Bits) -> EngineBackend:
        _require_shell_options_unset(self.config)
        limits = [self._memory_limit, self._narrow_heap_limit if bits == 32 else None]
        backend = EngineBackend(self.protos, bits, min(filter(None, limits), default=None))
        self._prepare(backend)
        return backend

    def _prepare(self, backend: EngineBackend) -> None:
        backend.reset(ingest_ftrace_in_raw=self.config.ingest_ftrace_in_raw)
        for package in self.config.add_sql_packages or ():
            given = (package,) if isinstance(package, str) else (package.path, package.package)
            backend.register_sql_package(read_sql_package(*given))
        self.notes += [note for note in backend.notes if note not in self.notes]

    def _is_narrow_enough(self) -> bool:
        """Whether the limit on memory is below what 32 bits address, so that more bits would not help."""
        return self._memory_limit is not None and self._memory_limit < 1 << 32

    def _replace_engine(self, bits: Bits) -> None:
        self._backend.close()
        self._backend = self.http = self._engine_backend(bits)

    def _parse_trace(self, trace: Any) -> None:  # noqa: ANN401  perfetto's TraceReference
        self._source = source = open_source(trace, self.resolver_registry.registry)
        if self.engine == "wasm" and needs_wide_memory(source):
            self._replace_engine(64)
        try:
            self._load(source)
        except EngineDiedError as error:
            if not error.out_of_memory or self.engine != "wasm" or self._is_narrow_enough():
                raise
            self._replace_engine(64)
            self._load(source)
        self._loaded = True
        cut_off = cut_off_note(source.framing)
        self.incomplete = "".join(cut_off) or self.incomplete
        self.notes += cut_off + stats_notes(self.rows(STATS_SQL))
        if source.path is not None:
            self._metadata = {**self._metadata, "_path": source.name}

    def _load(self, source: TraceSource) -> None:
        """Loads the trace; of one that was cut off, what can be saved."""
        try:
            if is_cut_off_zip(source):
                raise PerfettoException("the zip file is cut off")
            super()._parse_trace(source.reference())
        except (EngineDiedError, TraceLoadError, EngineUnavailableError):
            raise
        except PerfettoException as error:
            saved = salvage(source) if isinstance(self._backend, EngineBackend) else None
            if saved is None:
                raise
            self._load_saved(saved, error)

    def _load_saved(self, saved: Salvaged, error: PerfettoException) -> None:
        self._replace_engine(64 if self.engine == "wasm64" else 32)
        try:
            super()._parse_trace(chunk for chunk in saved.chunks)
        except PerfettoException:
            raise error from None  # the first error tells more about the trace that was given
        self.notes.append(saved.note)
        self.incomplete = saved.note

    @contextmanager
    def _explained(self, explain: Callable[[str], Exception]) -> Iterator[None]:
        """Turns what perfetto and the engine raise into this package's exceptions.

        `explain` makes one of the engine's answer that something is wrong.
        """
        try:
            yield
        except (SqlError, TraceLoadError, EngineUnavailableError):
            raise
        except EngineDiedError as error:
            raise TraceLoadError(f"{self._trace_name()}: {error}{self._load_hint()}") from error
        except PerfettoException as error:
            raise explain(str(error)) from None
        except (ConnectionError, http.client.HTTPException) as error:
            if isinstance(self._backend, EngineBackend):
                raise  # of whoever receives the rows: a pipe nobody reads any more
            raise TraceLoadError(f"{self._trace_name()}: the trace processor went away ({error})") from error

    def _load_error(self, text: str) -> TraceLoadError:
        return TraceLoadError(f"{self._trace_name()}: {_load_reason(text)}")

    def _sql_error(self, text: str) -> SqlError:
        return sql_error(text, self._refused_path(), wide=self.engine != "wasm")

    def _load_hint(self) -> str:
        loading = self._source is not None and not self._loaded
        return "; the trace may be damaged, or of a variant the engine does not know" if loading else ""

    def _trace_name(self) -> str:
        return self._source.name if self._source else "no trace"

    def _refused_path(self) -> str | None:
        return self._backend.instance.refused_path if isinstance(self._backend, EngineBackend) else None


def query(tp: TraceProcessor, sql: str) -> list[Row]:
    """Runs SQL on a trace; see `TraceProcessor.rows`."""
    return tp.rows(sql)


def _choose_engine(engine: str | None, shell_path: object) -> str:
    if engine is None:
        return "shell" if shell_path else "wasm"
    if engine not in _ENGINES:
        raise EngineUnavailableError(f"there is no engine {engine!r}; choose one of {', '.join(_ENGINES)}")
    if engine != "shell" and shell_path:
        raise EngineUnavailableError(f"a shell's path was given, but engine {engine!r}; use engine 'shell'")
    return engine


def _require_shell_options_unset(config: TraceProcessorConfig) -> None:
    """Options that only a shell has must not be ignored in silence."""
    for option in ("extra_flags", "enable_dev_features", "enable_sql_file_access"):
        if getattr(config, option, None):
            raise EngineUnavailableError(f"option {option} is for trace_processor_shell; use engine 'shell'")


def _batch(columns: tuple[str, ...], cells: Any) -> ResultBatch:  # noqa: ANN401  a CellsBatch message
    """A batch, without columns where it is what the engine answers to a statement that has no result."""
    is_nothing = columns == _NO_RESULT and cells.is_last_batch and not cells.cells
    return ResultBatch(() if is_nothing else columns, cells)


def _stream_from_engine(backend: EngineBackend, sql: str, on_batch: Callable[[ResultBatch], None]) -> None:
    columns: tuple[str, ...] = ()

    def on_result(result: Any) -> None:  # noqa: ANN401  a QueryResult message
        nonlocal columns
        if result.error:
            failed.append(result.error)
            return
        columns = columns or tuple(result.column_names)
        for cells in result.batch:
            on_batch(_batch(columns, cells))

    failed: list[str] = []
    backend.stream_query(sql, on_result)
    if failed:
        raise PerfettoException(failed[0])


def _request_error(text: str) -> SqlError:
    return SqlError(" ".join(text.split()), text)


def _load_reason(text: str) -> str:
    """The engine's reason without perfetto's introduction, in the user's words where it speaks in code."""
    reason = " ".join(text.rpartition("Error message: ")[2].split())
    if reason.startswith("Unknown trace type"):
        return "is not a trace of any format the engine knows"
    return f"can't be loaded: {reason}"
