"""The page: whole, self-contained, and harmless whatever the trace's strings are."""

import html
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from google.protobuf import text_format
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TraceConfig
from tests.findings.builder import MS, TraceBuilder
from tests.report.html.conftest import HOSTILE, Open, page_of
from tests.report.launcher import launcher

from unjank import TraceProcessor
from unjank.findings import Evidence, FindingSet, find_all, sql_of
from unjank.report.html._coverage import read_coverage


class Elements(HTMLParser):
    """Collects elements with their attributes, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remembers an element."""
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Remembers text."""
        self.text.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of that name."""
        return [attributes for name, attributes in self.found if name == tag]


def words(page: str) -> str:
    """The page's text, with single spaces."""
    return " ".join(" ".join(Elements(page).text).split())


def test_worst_stall_leads(launcher_page: str) -> None:
    """One card tells a wait once, with its cause, the figures, who had the CPU, and what to do."""
    text = words(launcher_page)
    assert text.count("UI thread (launcher.py) waited 18.2 ms for Queue._lock (launcher.py:41)") == 1
    assert "priority-inversion, lock-contention" in text
    assert "was kept off the CPU 15.9 ms" in text
    assert "camera-0 (launcher.py, nice 5) 9 ms" in text
    assert "What to do Keep BackgroundExecutor from being paused" in text


def test_sql_is_there_to_copy(launcher_page: str) -> None:
    """The SQL of every kind and of the picture stands in the page as it is run."""
    page = launcher_page
    shown = [html.unescape(block) for block in blocks(page)]
    for kind in ("priority-inversion", "lock-contention"):
        assert sql_of(kind).strip() in [text.strip() for text in shown]
    assert any("FROM thread_state" in text and "FROM sched" in text for text in shown)


def blocks(page: str) -> list[str]:
    """The code blocks of a page, escaped as they stand."""
    return re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)


def test_nothing_is_loaded(launcher_page: str) -> None:
    """No element refers to anything outside the page, and the policy forbids it."""
    elements = Elements(launcher_page)
    for _, attributes in elements.found:
        assert not {"src", "srcset", "style", "action"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    (policy,) = [each["content"] for each in elements.of("meta") if each.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


@pytest.mark.parametrize("place", ["thread", "process", "lock", "site", "file", "stack"])
def test_hostile_names_only_show(opened: Open, launcher_page: str, place: str) -> None:
    """Markup, quotes, controls and marks that reverse text, from anywhere in a trace, only show."""
    hostile = hostile_trace(place)
    page = page_of(opened(hostile), HOSTILE.replace("/", "") if place == "file" else "run.pftrace")
    tags = [name for name, _ in Elements(page).found]
    assert "img" not in tags
    assert tags.count("script") == len(Elements(launcher_page).of("script")) == 1
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", page)
    assert "onerror=&#34;alert(1)&#34;" in page


def hostile_trace(place: str) -> TraceBuilder:
    """A trace with a hostile string in one place."""
    if place in ("thread", "process", "file"):
        return launcher(ui=HOSTILE) if place == "thread" else launcher(process=HOSTILE)
    trace = TraceBuilder()
    trace.process(100, "app.py")
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 102, "owner")
    if place == "lock":
        trace.contention(waiter, owner, 1 * MS, 40 * MS, lock=HOSTILE)
    elif place == "site":
        trace.contention(waiter, owner, 1 * MS, 40 * MS, waiter_site=f"{HOSTILE}()(a.py:1)")
    else:
        name = "monitor contention with owner owner (102)"
        trace.slice(waiter, name, 1 * MS, 40 * MS, "lock", {"stack": HOSTILE, "lock": "L", "owner_tid": 102})
    return trace


def test_nothing_found(opened: Open) -> None:
    """A page without findings says so, what that is worth, and how to record more."""
    trace = TraceBuilder()
    trace.slice(trace.thread(100, 101, "main"), "work", 0, 5 * MS)
    page = page_of(opened(trace))
    text = words(page)
    assert "No stall was found." in text
    assert "The trace has no lock contention slices" in text
    assert "adb shell perfetto -c - --txt" in text
    assert "The worst, in pictures" not in text
    assert '<details class="recipe" open>' in page


def test_configuration_for_android(opened: Open) -> None:
    """The text to record Android with is one that Perfetto reads, and asks for all that the findings use."""
    trace = TraceBuilder()
    trace.slice(trace.thread(100, 101, "main"), "work", 0, 5 * MS)
    recipe = dict(read_coverage(opened(trace)[0]).recipe)
    config = text_format.Parse(recipe["An Android device: config.pbtxt"], TraceConfig())
    sources = {source.config.name: source.config for source in config.data_sources}
    assert {"dalvik", "ss", "wm", "am"} <= set(sources["linux.ftrace"].ftrace_config.atrace_categories)
    assert "sched/sched_blocked_reason" in sources["linux.ftrace"].ftrace_config.ftrace_events
    assert list(sources["track_event"].track_event_config.enabled_categories) == ["mq"]
    assert {"android.log", "android.surfaceflinger.frametimeline", "linux.process_stats"} <= set(sources)


def test_what_a_python_trace_lacks(opened: Open) -> None:
    """A recording without the scheduler says what it lacks and which command has it."""
    text = words(page_of(opened(launcher(sched=False))))
    assert "Scheduling none who had the CPU" in text
    assert "2 things not recorded" in text
    assert "unjank run --sched ftrace --html app.html app.py" in text
    assert "adb shell" not in text


def test_what_a_whole_trace_has(launcher_page: str) -> None:
    """What is there is counted, and called recorded."""
    text = words(launcher_page)
    assert "Waits for locks 1 who waited for whom, where, for how long ✓ recorded" in text


def test_tables_sort_by_exact_values(launcher_page: str) -> None:
    """Cells carry nanoseconds and not rounded words, so that a script sorts them right."""
    cells = Elements(launcher_page).of("td")
    keys = {(cell.get("data-label"), cell.get("data-key")) for cell in cells}
    assert ("longest", "18200000") in keys
    assert ("off CPU", "15900000") in keys


def test_command_to_look_around(opened: Open) -> None:
    """The page names the command that opens the trace, quoted for a shell."""
    page = page_of(opened(launcher()), "my runs/a b's.pftrace")
    assert """unjank view 'my runs/a b'"'"'s.pftrace'""" in html.unescape(page)
    assert "<h1>a b&#39;s.pftrace</h1>" in page


def test_long_tables_are_cut(launcher_page: str) -> None:
    """Of a kind with thousands of findings the worst are listed, and how to have the others is said."""
    with TraceProcessor(launcher().data()) as tp:
        (finding,) = [each for each in find_all(tp).findings if each.kind == "lock-contention"]
        many = FindingSet.ranked([replace(finding, ts_ns=n) for n in range(600)], [])
        page = page_of((Evidence(tp), many))
    text = words(page)
    assert "lock-contention 600" in text
    assert "… and 100 more: 'unjank report --json FILE' has them." in text
    assert "more: 'unjank report" not in launcher_page
