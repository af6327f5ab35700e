"""What the trace has and lacks, what each thing is good for, and how to record it next time."""

from dataclasses import dataclass

from unjank.findings import Evidence

# Numbers of rows alone: this is what the table shows, by the SQL that the page shows under it.
_SQL = """\
SELECT
  (SELECT COUNT() FROM slice WHERE name GLOB 'monitor contention with owner *') AS locks,
  (SELECT COUNT() FROM sched) AS switches,
  (SELECT COUNT() FROM thread_state WHERE waker_utid IS NOT NULL) AS wakeups,
  (SELECT COUNT() FROM thread_state WHERE blocked_function IS NOT NULL) AS blocked,
  (
    SELECT COUNT() FROM slice
    WHERE category = 'mq' OR name GLOB 'Looper.dispatch: *' OR (
      -- Handlers, as in unjank_dispatch
      depth = 0 AND name GLOB '*.*: *'
      AND REGEXP_EXTRACT(name, '^[A-Za-z_][A-Za-z0-9_$]*([.][A-Za-z0-9_$]+)+: [^ ()]+$') IS NOT NULL
    )
  ) AS messages,
  (SELECT COUNT() FROM android_logs) AS logs,
  (SELECT COUNT() FROM actual_frame_timeline_slice) AS frames;
"""


@dataclass(frozen=True)
class Aspect:
    """Something a trace may have.

    Attributes:
        name: What it is.
        count: How much of it is there.
        tells: What it is good for.
        record: How to have it next time.
        may_be_none: Whether there is none of it in good recordings too.
    """

    name: str
    count: int
    tells: str
    record: str
    may_be_none: bool


@dataclass(frozen=True)
class Coverage:
    """All aspects, and ready text to record them.

    Attributes:
        aspects: What the trace has and lacks.
        sql: The statement that counts it.
        recipe: What to run or write down to have all of it, as heading and text.
    """

    aspects: tuple[Aspect, ...]
    sql: str
    recipe: tuple[tuple[str, str], ...]

    @property
    def lacking(self) -> tuple[Aspect, ...]:
        """What is not there."""
        return tuple(aspect for aspect in self.aspects if not aspect.count and not aspect.may_be_none)


_SCHEDULING = (
    ("switches", "Scheduling", "who had the CPU, and for how long a lock's owner had none"),
    ("wakeups", "Wake-ups", "who woke whom, and on which CPU"),
)
_PYTHON = (
    ("locks", "Waits for locks", "who waited for whom, where, for how long"),
    *_SCHEDULING,
    ("messages", "Messages of loopers", "who posted what, and how late it ran"),
)
_ANDROID = (
    ("locks", "Waits for monitors", "who waited for whom, where, for how long"),
    *_SCHEDULING,
    ("blocked", "Blocked functions", "in which function of the kernel a thread was blocked"),
    ("frames", "Frames", "which frames were late, and so which waits a person saw"),
    ("messages", "Messages of loopers", "which messages ran long or late, and who flooded a looper"),
    ("logs", "Logcat", "long waits and late messages, as the runtime and the loopers told them"),
)
_MAY_BE_NONE = ("locks", "messages")  # the recorder has them all
_PYTHON_WAYS = {
    "locks": "nothing: no thread waited for a lock",
    "switches": "run as root, or see what 'unjank doctor' says",
    "wakeups": "run as root, or see what 'unjank doctor' says",
    "messages": "nothing: no message was posted to an unjank.Looper",
}
_ANDROID_WAYS = {
    "locks": "atrace category dalvik",
    "switches": "ftrace event sched/sched_switch",
    "wakeups": "ftrace event sched/sched_waking",
    "blocked": "ftrace event sched/sched_blocked_reason",
    "frames": "data source android.surfaceflinger.frametimeline (Android 12 and later)",
    "messages": "atrace categories ss, wm and am, and atrace_apps; category mq (Android 16 and later)",
    "logs": "data source android.log",
}
_ANDROID_CONFIG = """\
duration_ms: 20000
buffers { size_kb: 131072 }
data_sources { config { name: "linux.ftrace" ftrace_config {
  ftrace_events: "sched/sched_switch"
  ftrace_events: "sched/sched_waking"
  ftrace_events: "sched/sched_blocked_reason"
  ftrace_events: "task/task_newtask"
  ftrace_events: "task/task_rename"
  atrace_categories: "dalvik"
  atrace_categories: "view"
  atrace_categories: "am"
  atrace_categories: "wm"
  atrace_categories: "ss"
  atrace_apps: "*"
} } }
data_sources { config { name: "linux.process_stats" process_stats_config {
  scan_all_processes_on_start: true
} } }
data_sources { config { name: "android.surfaceflinger.frametimeline" } }
data_sources { config { name: "android.log" android_log_config {
  log_ids: LID_DEFAULT
  log_ids: LID_EVENTS
  log_ids: LID_SYSTEM
} } }
data_sources { config { name: "track_event" track_event_config {
  enabled_categories: "mq"
} } }
"""
_ANDROID_RECIPE = (
    ("An Android device: config.pbtxt", _ANDROID_CONFIG),
    (
        "An Android device: then",
        "adb shell perfetto -c - --txt -o /data/misc/perfetto-traces/app.pftrace < config.pbtxt\n"
        "adb pull /data/misc/perfetto-traces/app.pftrace\n"
        "unjank report app.pftrace --html app.html\n",
    ),
)
_PYTHON_RECIPE = (
    ("A Python program, as root for all of it", "unjank run --sched ftrace --html app.html app.py\n"),
    ("A Python program: what this machine allows", "unjank doctor\n"),
)


def read_coverage(evidence: Evidence) -> Coverage:
    """Counts what the trace has."""
    (counts,) = evidence.tp.query(_SQL)
    is_python = bool(evidence.recordings)
    aspects, ways = (_PYTHON, _PYTHON_WAYS) if is_python else (_ANDROID, _ANDROID_WAYS)
    found = tuple(
        Aspect(name, getattr(counts, key), tells, ways[key], is_python and key in _MAY_BE_NONE)
        for key, name, tells in aspects
    )
    return Coverage(aspects=found, sql=_SQL, recipe=_recipe(found, is_python))


def _recipe(found: tuple[Aspect, ...], is_python: bool) -> tuple[tuple[str, str], ...]:
    """How to record; of a trace that has nothing of all this no one can tell what it is of."""
    if is_python:
        return _PYTHON_RECIPE
    is_of_anything = any(aspect.count for aspect in found)
    return _ANDROID_RECIPE if is_of_anything else _ANDROID_RECIPE + _PYTHON_RECIPE
