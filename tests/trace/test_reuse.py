"""One engine for many traces, one after the other."""

from pathlib import Path

import pytest

from unjank import EngineError, QueryError, TraceError, TraceProcessor

_COUNT = "SELECT COUNT(*) AS n FROM slice"


def test_another_trace_in_the_same_engine(api32_trace: Path, traces_dir: Path) -> None:
    """The second trace is read as in an engine of its own, in the memory that the first one used."""
    with TraceProcessor(traces_dir / "chrome_simple.json") as tp:
        instance = tp._backend.instance
        tp.rows("CREATE PERFETTO TABLE mine AS SELECT 1 AS x")
        tp.load(api32_trace)
        assert tp._backend.instance is instance
        assert tp.rows(_COUNT) == [{"n": 9887}]
        with pytest.raises(QueryError, match="no such table"):
            tp.rows("SELECT * FROM mine")


def test_memory_stays_flat(api32_trace: Path) -> None:
    """The engine's memory does not grow from trace to trace."""
    sql = "INCLUDE PERFETTO MODULE android.monitor_contention; SELECT * FROM android_monitor_contention"
    with TraceProcessor(api32_trace) as tp:
        sizes = []
        for _ in range(6):
            tp.load(api32_trace)
            tp.rows(sql)
            sizes.append(tp._backend.instance.memory_bytes)
    assert len(set(sizes[2:])) == 1


def test_after_a_trace_that_kills_the_engine(api32_trace: Path, traces_dir: Path) -> None:
    """A dead engine is replaced by the next load."""
    with TraceProcessor() as tp:
        for bad in ("bad_gecko_aborts_engine.json", "bad_unknown_type.txt"):
            with pytest.raises(TraceError, match=bad):
                tp.load(traces_dir / bad)
            tp.load(api32_trace)
            assert tp.rows(_COUNT) == [{"n": 9887}]


def test_notes_are_of_the_trace_that_is_loaded(tmp_path: Path, api32_trace: Path) -> None:
    """What was cut off in one trace is not said of the next."""
    cut = tmp_path / "cut"
    cut.write_bytes(api32_trace.read_bytes()[:-3])
    with TraceProcessor(cut) as tp:
        assert "cut off" in tp.incomplete
        assert tp.incomplete in tp.notes
        tp.load(api32_trace)
        assert tp.incomplete == ""
        assert not any("cut off" in note for note in tp.notes)


def test_limit_on_memory(traces_dir: Path) -> None:
    """An engine that may not grow enough says so; the next trace can be loaded."""
    with TraceProcessor(memory_limit=36 << 20) as tp:
        with pytest.raises(TraceError, match="out of memory: it needs more than 36 MiB"):
            tp.load(traces_dir / "android_jank_cpu_sampling.pftrace")
        tp.load(traces_dir / "chrome_simple.json")
        assert tp.rows(_COUNT) == [{"n": 18}]


def test_closed(api32_trace: Path) -> None:
    """A closed object loads nothing any more."""
    tp = TraceProcessor()
    tp.close()
    with pytest.raises(EngineError, match="closed"):
        tp.load(api32_trace)
