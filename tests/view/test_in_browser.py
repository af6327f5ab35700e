"""The UI in a real browser: the trace is on screen, nothing goes out, a closed tab ends the server."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import unquote

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.support.wait import WebDriverWait
from tests.browser import headless_browser

from unjank.view import ServedTrace, serve_trace

PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A browser with an empty profile, for all tests here."""
    with headless_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def _tell_when_left(served: ServedTrace, left: Event) -> None:
    served.wait_until_left()
    left.set()


def wait_for_text(browser: Chrome, *words: str) -> None:
    """Waits until all of the words are on the page."""

    def is_shown(page: Chrome) -> bool:
        text = page.execute_script("return document.body.innerText")
        return all(word in text for word in words)

    WebDriverWait(browser, PATIENCE_SECONDS).until(is_shown, f"not on the page: {words}")


def requested(browser: Chrome) -> set[str]:
    """The addresses that requests really went to, of all since the last call."""
    asked, blocked = {}, set()
    entries: list[Any] = browser.get_log("performance")  # type: ignore[no-untyped-call]
    for entry in entries:
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked[message["params"]["requestId"]] = message["params"]["request"]["url"]
        elif message["method"] == "Network.loadingFailed" and message["params"].get("blockedReason"):
            blocked.add(message["params"]["requestId"])
    return {url for request, url in asked.items() if request not in blocked}


def test_tracks_are_on_screen(browser: Chrome, served: ServedTrace) -> None:
    """The trace is open, called by its file's name, with the waiting thread's track."""
    browser.get(served.url)
    wait_for_text(browser, "launcher.py 100", "waiting one 101")
    assert unquote(browser.title).startswith("a trace & more?.pftrace (")


def test_nothing_goes_out_and_nothing_stays(browser: Chrome, served: ServedTrace) -> None:
    """All requests go to the server, and the browser's profile keeps no copy of the trace."""
    browser.get("about:blank")
    requested(browser)  # those of pages before
    browser.get(served.url)
    wait_for_text(browser, "launcher.py 100")
    origin = f"http://127.0.0.1:{served.port}"
    ours = (f"{origin}/", f"blob:{origin}/", "data:", "chrome:")  # the last are the browser's own first tab
    assert {url for url in requested(browser) if not url.startswith(ours)} == set()
    usage = browser.execute_cdp_cmd("Storage.getUsageAndQuota", {"origin": origin})
    kept = {entry["storageType"] for entry in usage["usageBreakdown"] if entry["usage"]}
    assert kept.isdisjoint({"cache_storage", "service_workers", "indexeddb"})


def test_server_ends_when_the_tab_is_closed_but_not_on_a_reload(browser: Chrome, trace: Path) -> None:
    """A reload keeps the server and finds the trace again; closing the tab ends the wait."""
    left = Event()
    with serve_trace(trace, port=0) as served:
        Thread(target=_tell_when_left, args=(served, left), daemon=True).start()
        browser.get(served.url)
        wait_for_text(browser, "launcher.py 100")
        browser.refresh()
        wait_for_text(browser, "launcher.py 100")
        assert not left.is_set()
        viewer = browser.current_window_handle
        browser.switch_to.new_window("tab")
        other = browser.current_window_handle
        browser.switch_to.window(viewer)
        browser.close()
        assert left.wait(PATIENCE_SECONDS)
        browser.switch_to.window(other)


@pytest.mark.parametrize(
    "name", ["android_startup_warm_api32.perfetto-trace", "android_systrace_surfaceflinger.html"]
)
def test_traces_of_others(browser: Chrome, traces_dir: Path, name: str) -> None:
    """Android's traces open too, of today and of old."""
    with serve_trace(traces_dir / name, port=0) as served:
        browser.get(served.url)
        wait_for_text(browser, "CPU 0 Scheduling", name)
