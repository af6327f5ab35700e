"""What a trace says of itself: the columns beside its name, the same for every trace."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unjank.trace import TraceProcessor

# Column (after `trace_`) and the name that Perfetto's table `metadata` has for it.
_FACTS = {
    "build": "android_build_fingerprint",
    "sdk": "android_sdk_version",
    "system": "system_name",
    "release": "system_release",
    "machine": "system_machine",
    "type": "trace_type",
    "uuid": "trace_uuid",
}
# What Android's C library gives programs that cannot read a property as long as this one, so that it lands in
# traces as the value.
_UNREADABLE = "Must use __system_property_read_callback() to read"
FACT_NAMES = tuple(_FACTS)
COLUMN_PREFIX = "trace_"

_SQL = """
SELECT name, COALESCE(str_value, CAST(int_value AS TEXT)) AS value
FROM metadata
WHERE name IN ({names}) AND str_value IS NOT '{unreadable}'
ORDER BY id DESC
""".format(names=", ".join(f"'{name}'" for name in _FACTS.values()), unreadable=_UNREADABLE)


def read_facts(tp: "TraceProcessor") -> dict[str, str]:
    """The facts that the trace has; of several values of one the first counts."""
    values = {row["name"]: row["value"] for row in tp.rows(_SQL)}
    return {column: str(values[name]) for column, name in _FACTS.items() if values.get(name) is not None}
