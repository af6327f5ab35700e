"""`TraceProcessor` behaves as perfetto's, on the engine in this process."""

from pathlib import Path

import pytest
from perfetto.trace_processor.api import TraceProcessorException

from unjank import QueryError, TraceProcessor
from unjank.trace import query


def test_counts_slices(api32_trace: Path) -> None:
    """The API 32 trace has 9,887 slices."""
    with TraceProcessor(api32_trace) as tp:
        assert query(tp, "SELECT COUNT(*) AS n FROM slice") == [{"n": 9887}]


def test_message_queue_sums(api32_trace: Path) -> None:
    """The message queue's contention sums are 399, 251 and 46 microseconds, rounded."""
    sql = """
    INCLUDE PERFETTO MODULE android.monitor_contention;
    SELECT CAST(ROUND(SUM(dur) / 1e3) AS INT) AS us FROM android_monitor_contention
    WHERE is_blocked_thread_main AND short_blocked_method LIKE '%MessageQueue%'
    GROUP BY upid ORDER BY us DESC
    """
    with TraceProcessor(api32_trace) as tp:
        assert [row["us"] for row in tp.rows(sql)] == [399, 251, 46]


def test_sql_error_is_perfettos_exception_too(api32_trace: Path) -> None:
    """Code that catches perfetto's exception and code that catches unjank's both see a SQL error."""
    with TraceProcessor(api32_trace) as tp:
        with pytest.raises(TraceProcessorException, match="no such column: foo"):
            tp.query("SELECT foo FROM slice")
        with pytest.raises(QueryError, match="line 1, column 8"):
            tp.query("SELECT foo FROM slice")
