"""Findings: the only place where a rule lives that says what in a trace is bad, how bad, and what to do.

Layout: one rule per file (`lock_contention`, `priority_inversion`, `deadlock_cycle`), listed in `_registry`;
`_evidence` reads a trace once for all of them; `sql/` has the SQL that gives each rule's numbers. A new rule
is a new file, its SQL, and a line in the registry.
"""

from unjank.findings._contention import Contention
from unjank.findings._evidence import Evidence
from unjank.findings._model import Finding, FindingSet, Json, Severity
from unjank.findings._registry import RULES, Rule, find_all
from unjank.findings._sql import sql_of
from unjank.findings._threads import Thread
from unjank.findings._units import counted, format_duration

__all__ = [
    "RULES",
    "Contention",
    "Evidence",
    "Finding",
    "FindingSet",
    "Json",
    "Rule",
    "Severity",
    "Thread",
    "counted",
    "find_all",
    "format_duration",
    "sql_of",
]
