"""What the server offers: each method is a tool, its docstring what the model reads about it."""

import fnmatch
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from unjank import EngineError, QueryError, TraceError
from unjank.findings import RULES, Severity, sql_of
from unjank.mcp._engine_process import EngineProcess
from unjank.mcp._messages import Cell, Opening, Rows
from unjank.mcp._stdlib_docs import Documented, read_docs
from unjank.trace import EngineName, unique_names

Answer = dict[str, object]

MOST_ROWS = 1000
LONGEST_SECONDS = 600.0
LARGEST_ANSWER = 200_000  # characters of all cells: a model has to read them
FINDINGS_SECONDS = 300.0
_MOST_TABLES = 10_000
_TABLES_SQL = "SELECT name, type, ncol FROM pragma_table_list WHERE schema = 'main' ORDER BY name"
_COLUMNS_SQL = "SELECT name, type FROM pragma_table_info('{name}')"


class TraceTools:
    """The tools, on the traces that the user named.

    Args:
        traces: The traces' files; the first one is taken where a call names none.
        engine: What reads them, as for `unjank.TraceProcessor`.
        shell_path: The trace_processor_shell, for engine `shell`.
    """

    def __init__(
        self, traces: Sequence[Path], *, engine: EngineName | None = None, shell_path: Path | None = None
    ) -> None:
        self._traces = _named(traces)
        self._engine, self._shell_path = engine, shell_path
        self._open: tuple[str, EngineProcess] | None = None
        self._one_at_a_time = threading.Lock()

    @property
    def tools(self) -> tuple[Callable[..., Answer], ...]:
        """The methods that are tools."""
        return (
            self.list_traces,
            self.list_findings,
            self.finding_sql,
            self.list_tables,
            self.describe_table,
            self.list_modules,
            self.describe_module,
            self.run_sql,
        )

    def close(self) -> None:
        """Ends the engine's process."""
        if self._open:
            self._open[1].close()
            self._open = None

    def list_traces(self) -> Answer:
        """Lists the traces that can be asked about, with size in bytes; the first one is the default."""
        return {
            "traces": [
                {"trace": name, "path": str(path), "bytes": path.stat().st_size if path.exists() else None}
                for name, path in self._traces.items()
            ]
        }

    def list_findings(
        self, trace: str | None = None, min_severity: str = "low", kind: str | None = None, most: int = 20
    ) -> Answer:
        """Lists what is wrong in a trace, worst first: stalls with waiter, owner, cause, places, advice.

        Start here. `notes` say what the trace could not tell.

        Args:
            trace: Name of the trace; the first one if left out.
            min_severity: low, medium or high.
            kind: Only this kind, such as lock-contention.
            most: How many to return at most.
        """
        threshold = _severity(min_severity)
        if kind is not None and kind not in dict(RULES):
            raise QueryError(f"there is no kind {kind!r}; choose one of {', '.join(dict(RULES))}")
        with self._one_at_a_time:
            found = self._process(trace).find_all(FINDINGS_SECONDS)
        bad = [entry for entry in found.findings if Severity(str(entry["severity"])).at_least(threshold)]
        wanted = [entry for entry in bad if kind is None or entry["kind"] == kind]
        return {
            "findings": wanted[: max(0, most)],
            "left_out": max(0, len(wanted) - max(0, most)),
            "kinds": dict(Counter(str(entry["kind"]) for entry in bad)),
            "notes": found.notes,
        }

    def finding_sql(self, kind: str) -> Answer:
        """Gives the SQL behind a kind of finding's numbers, to run or to change.

        It leaves tables named unjank_… behind, such as unjank_contention with a row for each wait for a lock.

        Args:
            kind: Such as lock-contention.
        """
        try:
            return {"kind": kind, "sql": sql_of(kind)}
        except ValueError as error:
            raise QueryError(f"{error}: {', '.join(dict(RULES))}") from None

    def list_tables(self, pattern: str = "*", trace: str | None = None) -> Answer:
        """Lists tables and views that SQL can use now, also those that earlier queries included or created.

        More come with the standard library's modules: see list_modules.

        Args:
            pattern: Names to list, with * for any text: *thread*.
            trace: Name of the trace; the first one if left out.
        """
        rows = self._rows(trace, _TABLES_SQL, _MOST_TABLES).rows
        described = {entry.name: entry.description for entry in read_docs()}
        names = {str(name): str(kind) for name, kind, _ in rows}
        shown = [name for name in names if fnmatch.fnmatch(name, pattern) and not _is_internal(name)]
        return {
            "tables": [
                {
                    "name": name,
                    "kind": "view" if names[name] == "view" else "table",
                    "description": described.get(name, ""),
                }
                for name in shown
            ]
        }

    def describe_table(self, name: str, trace: str | None = None) -> Answer:
        """Describes a table, view, function or macro: columns or arguments, and the module to include.

        Args:
            name: Its name, such as slice or android_monitor_contention.
            trace: Name of the trace; the first one if left out.
        """
        for entry in read_docs():
            if entry.name.lower() == name.lower():
                return _described(entry)
        sql = _COLUMNS_SQL.format(name=name.replace("'", "''"))
        columns = self._rows(trace, sql).rows
        if not columns:
            raise QueryError(f"there is no table {name!r}; list_tables and list_modules tell what there is")
        return {"name": name, "columns": [{"name": column, "type": kind} for column, kind in columns]}

    def list_modules(self, pattern: str = "*") -> Answer:
        """Lists modules of Perfetto's standard library, and what each has.

        A module is made known by a statement: INCLUDE PERFETTO MODULE android.startup.startups;

        Args:
            pattern: Modules with * for any text, android.*, or a word that they or their tables contain.
        """
        modules: dict[str, list[str]] = {}
        for entry in read_docs():
            if entry.include and _matches(entry, pattern):
                modules.setdefault(entry.module, []).append(entry.name)
        return {"modules": [{"module": name, "has": has} for name, has in sorted(modules.items())]}

    def describe_module(self, module: str) -> Answer:
        """Describes all tables, functions and macros of a module of the standard library.

        Args:
            module: Such as android.monitor_contention.
        """
        entries = [entry for entry in read_docs() if entry.module == module]
        if not entries:
            raise QueryError(f"there is no documented module {module!r}; list_modules tells what there is")
        return {"module": module, "has": [_described(entry) for entry in entries]}

    def run_sql(
        self, sql: str, trace: str | None = None, most_rows: int = 100, deadline_s: float = 30.0
    ) -> Answer:
        """Runs PerfettoSQL (SQLite with INCLUDE PERFETTO MODULE) and returns the last statement's rows.

        Times (ts, dur) are in nanoseconds: divide by 1e6, not by 1000000, which gives whole numbers only. A
        slice that had not ended has dur = -1. A query that takes too long is stopped, and tables that
        earlier queries created are gone then.

        Args:
            sql: Statements; only the last one's rows are returned.
            trace: Name of the trace; the first one if left out.
            most_rows: How many rows to return, up to 1000. If there are more, row_count says so.
            deadline_s: Seconds it may take, up to 600.
        """
        rows = max(1, min(most_rows, MOST_ROWS))
        deadline = max(0.1, min(deadline_s, LONGEST_SECONDS))
        return _table(self._rows(trace, sql, rows, deadline))

    def _rows(
        self, trace: str | None, sql: str, most_rows: int = MOST_ROWS, deadline: float = LONGEST_SECONDS
    ) -> Rows:
        with self._one_at_a_time:
            return self._process(trace).run_sql(sql, most_rows, deadline)

    def _process(self, trace: str | None) -> EngineProcess:
        """The engine that has read a trace; one trace is open at a time."""
        name = trace or next(iter(self._traces))
        if name not in self._traces:
            raise TraceError(f"there is no trace {name!r} here; choose one of {', '.join(self._traces)}")
        if self._open is None or self._open[0] != name:
            self.close()
            shell = str(self._shell_path) if self._shell_path else None
            self._open = name, EngineProcess(Opening(str(self._traces[name]), self._engine, shell))
        return self._open[1]


def _named(traces: Sequence[Path]) -> dict[str, Path]:
    """The traces by a short name: the file's, or the whole path where two files have the same."""
    if not traces:
        raise EngineError("name at least one trace: unjank mcp TRACE")
    for path in traces:
        if path.is_dir():
            raise TraceError(f"{path}: is a folder; give trace files in it")
        if not path.is_file():
            raise TraceError(f"{path}: no such file")
    counts = Counter(path.name for path in traces)
    return {path.name if counts[path.name] == 1 else str(path): path for path in traces}


def _table(result: Rows) -> Answer:
    """Rows as objects; fewer than asked for if they are too long to read."""
    names = unique_names(tuple(result.columns))
    shown: list[Mapping[str, Cell]] = []
    size = 0
    for row in result.rows:
        size += sum(len(str(cell)) for cell in row)
        if size > LARGEST_ANSWER and shown:
            break
        shown.append(dict(zip(names, row, strict=True)))
    answer: Answer = {"columns": list(names), "rows": shown}
    if result.total is None:
        answer["row_count"] = f"more than {len(result.rows)}: they were not counted to the end"
    else:
        answer["row_count"] = result.total
    return answer


def _described(entry: Documented) -> Answer:
    answer: Answer = {
        "name": entry.name,
        "kind": entry.kind,
        "module": entry.module,
        "include": entry.include,
        "description": entry.description,
    }
    if entry.columns:
        answer["columns"] = [dict(column) for column in entry.columns]
    if entry.arguments:
        answer["arguments"] = [dict(argument) for argument in entry.arguments]
    if entry.returns:
        answer["returns"] = entry.returns
    return answer


def _matches(entry: Documented, pattern: str) -> bool:
    if fnmatch.fnmatch(entry.module, pattern):
        return True
    word = pattern.lower()
    return "*" not in word and (word in entry.module.lower() or word in entry.name.lower())


def _is_internal(name: str) -> bool:
    return name.startswith(("_", "sqlite_"))


def _severity(name: str) -> Severity:
    try:
        return Severity(name.lower())
    except ValueError:
        raise QueryError(f"there is no severity {name!r}; choose low, medium or high") from None
