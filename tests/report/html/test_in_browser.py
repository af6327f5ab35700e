"""The page in a real browser: readable everywhere, silent, sortable, printable."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.browser import headless_browser
from tests.findings.builder import MS, TraceBuilder
from tests.report.html.conftest import HOSTILE, Open, page_of
from tests.report.launcher import launcher


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One browser for all tests here; each loads its own page."""
    with headless_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def show(browser: Chrome, page: str, folder: Path, *, width: int = 1100, dark: bool = False) -> None:
    """Opens a page from a file, on a screen of that width."""
    file = folder / "report.html"
    file.write_text(page, encoding="utf-8")
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [scheme]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.get(file.as_uri())


def complaints(browser: Chrome) -> list[Any]:
    """What the browser's console says since the last call."""
    return browser.get_log("browser")  # type: ignore[no-untyped-call,no-any-return]


def several_locks() -> TraceBuilder:
    """Three locks whose order by length, by sum and by name is not the same."""
    trace = TraceBuilder()
    owner = trace.thread(100, 200, "owner")
    for n, (name, times) in enumerate((("b", [30]), ("c", [20, 20]), ("a", [9]))):
        waiter = trace.thread(100, 101 + n, name)
        for m, length in enumerate(times):
            start = (100 * n + 40 * m + 1) * MS
            trace.contention(waiter, owner, start, start + length * MS, lock=name, lock_id=n)
    return trace


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_fits_the_screen(browser: Chrome, opened: Open, tmp_path: Path, width: int) -> None:
    """Nothing makes the page wider than the screen, and the picture made for it is the one that shows."""
    show(browser, page_of(opened(launcher(process="x" * 200))), tmp_path, width=width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    shown = [
        svg.get_attribute("class")
        for svg in browser.find_elements(By.CSS_SELECTOR, "svg.picture")
        if svg.is_displayed()
    ]
    assert shown == ["picture narrow" if width <= 640 else "picture wide"]
    assert complaints(browser) == []


def test_tables_stack_on_a_phone(browser: Chrome, opened: Open, tmp_path: Path) -> None:
    """On a phone no table has to be scrolled sideways, each cell says what it is, and headings still sort."""
    show(browser, page_of(opened(several_locks())), tmp_path, width=360)
    script = "return [...document.querySelectorAll('.scroll')].every(e => e.scrollWidth <= e.clientWidth)"
    assert browser.execute_script(script)
    label = "return getComputedStyle(document.querySelector('td.number'), '::before').content"
    assert "longest" in browser.execute_script(label)
    heading = browser.find_elements(By.CSS_SELECTOR, "table.sortable th button")[1]
    heading.click()
    assert column(browser, 1) == ["30 ms", "20 ms", "9 ms"]


def test_text_of_pictures_is_large_enough(browser: Chrome, launcher_page: str, tmp_path: Path) -> None:
    """On a phone the letters of a picture have at least ten pixels."""
    show(browser, launcher_page, tmp_path, width=360)
    script = """
      const svg = document.querySelector('svg.narrow');
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      const sizes = [...svg.querySelectorAll('text')].map(t => parseFloat(getComputedStyle(t).fontSize));
      return Math.min(...sizes) * scale;
    """
    assert browser.execute_script(script) >= 10


@pytest.mark.parametrize("dark", [False, True])
def test_contrast(browser: Chrome, launcher_page: str, tmp_path: Path, dark: bool) -> None:
    """Text stands out from what is behind it, by WCAG's ratio of 4.5, in light and dark."""
    show(browser, launcher_page, tmp_path, dark=dark)
    for pair in ("p.lead", ".sentence, dd", "dt", ".advice p", ".advice h4", ".badge", "td", "th", "summary"):
        assert browser.execute_script(CONTRAST, pair) >= 4.5, pair
    assert browser.execute_script(LABEL_CONTRAST) >= 4.5
    background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (max(int(n) for n in background[4:-1].split(",")) < 64) == dark


LIGHT = """
  const parts = (c) => c.match(/[\\d.]+/g).map(Number);
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => {
    const [r, g, b] = parts(c).map(v => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
"""
CONTRAST = f"""{LIGHT}
  const behind = (e) => {{
    const c = getComputedStyle(e).backgroundColor;
    return parts(c)[3] === 0 ? behind(e.parentElement) : c;
  }};
  const found = [...document.querySelectorAll(arguments[0])];
  return Math.min(...found.map(e => contrast(getComputedStyle(e).color, behind(e))));
"""
# Of a label in a picture, and of one in each colour that a picture may have.
LABEL_CONTRAST = f"""{LIGHT}
  const svg = document.querySelector('svg.wide');
  const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]);
  const selectors = rules.map(rule => rule.selectorText ?? '').join(' ');
  const kinds = new Set(selectors.match(/rect\\.[a-z0-9-]+/g).map(name => name.slice(5)));
  for (const kind of ['ground', 'lost', 'rival', 'unknown', 'gone', 'post']) kinds.delete(kind);
  const make = (name, kind) => {{
    const element = document.createElementNS(svg.namespaceURI, name);
    element.setAttribute('class', kind);
    return svg.appendChild(element);
  }};
  const fill = (name, kind) => getComputedStyle(make(name, kind)).fill;
  return Math.min(...[...kinds].map(kind => contrast(fill('rect', kind), fill('text', `on ${{kind}}`))));
"""


def column(browser: Chrome, number: int) -> list[str]:
    """The texts of a column of the first table."""
    rows = browser.find_elements(By.CSS_SELECTOR, "table.sortable tbody tr")
    return [row.find_elements(By.TAG_NAME, "td")[number].text.splitlines()[0] for row in rows]


def test_tables_sort(browser: Chrome, opened: Open, tmp_path: Path) -> None:
    """A click on a heading sorts, numbers largest first; another turns it round; readers are told."""
    show(browser, page_of(opened(several_locks())), tmp_path)
    headings = browser.find_elements(By.CSS_SELECTOR, "table.sortable th")
    names = [heading.text for heading in headings]
    total, thread = names.index("total"), names.index("thread")
    headings[total].find_element(By.TAG_NAME, "button").click()
    assert column(browser, total) == ["40 ms", "30 ms", "9 ms"]
    assert headings[total].get_attribute("aria-sort") == "descending"
    headings[total].find_element(By.TAG_NAME, "button").click()
    assert column(browser, total) == ["9 ms", "30 ms", "40 ms"]
    headings[thread].find_element(By.TAG_NAME, "button").click()
    assert column(browser, thread) == ["a", "b", "c"]
    assert headings[total].get_attribute("aria-sort") is None


CLIPBOARD = """
  const clipboard = {writeText: eval(arguments[0])};
  Object.defineProperty(navigator, 'clipboard', {value: clipboard, configurable: true});
"""


def test_sql_is_copied(browser: Chrome, launcher_page: str, tmp_path: Path) -> None:
    """The button puts the SQL beside it on the clipboard, or marks it where the clipboard is closed."""
    show(browser, launcher_page, tmp_path)
    browser.find_element(By.CSS_SELECTOR, ".stall summary").click()
    button = browser.find_element(By.CSS_SELECTOR, ".stall button.copy")
    browser.execute_script(CLIPBOARD, "async (text) => { window.copied = text; }")
    button.click()
    copied = browser.execute_script("return window.copied")
    assert copied == browser.find_element(By.CSS_SELECTOR, ".stall pre").get_attribute("textContent")
    assert "SELECT" in copied
    browser.execute_script(CLIPBOARD, "() => Promise.reject(Error())")
    button.click()
    assert browser.execute_script("return getSelection().toString()").strip().startswith("--")


def test_hostile_names_run_nothing(browser: Chrome, opened: Open, tmp_path: Path) -> None:
    """A trace whose names are programs shows them; none runs, and the policy has nothing to refuse."""
    show(browser, page_of(opened(launcher(ui=HOSTILE, process=HOSTILE))), tmp_path)
    assert browser.execute_script("return document.images.length") == 0
    assert "onerror=" in browser.find_element(By.TAG_NAME, "body").text
    assert complaints(browser) == []


def test_policy_refuses_other_scripts(browser: Chrome, launcher_page: str, tmp_path: Path) -> None:
    """Were a name to get through all the same, the browser would not run it."""
    page = launcher_page.replace("</main>", "<script>window.ran = true</script></main>")
    show(browser, page, tmp_path)
    assert browser.execute_script("return window.ran") is None
    assert "Content Security Policy" in str(complaints(browser))


def test_without_scripts(browser: Chrome, launcher_page: str, tmp_path: Path) -> None:
    """Where scripts do not run, all is there but the buttons."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        show(browser, launcher_page, tmp_path)
        text = browser.find_element(By.TAG_NAME, "body").text
        buttons = browser.find_elements(By.TAG_NAME, "button")
        assert "UI thread (launcher.py) waited 18.2 ms" in text
        assert not any(button.is_displayed() for button in buttons)
        browser.find_element(By.CSS_SELECTOR, ".stall summary").click()
        assert browser.find_element(By.CSS_SELECTOR, ".stall pre").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_prints(browser: Chrome, launcher_page: str, tmp_path: Path) -> None:
    """It prints, dark screens too, in dark ink on white and with the colours of the pictures."""
    show(browser, launcher_page, tmp_path, dark=True)
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"])
    assert pdf.startswith(b"%PDF")
    dark = {"name": "prefers-color-scheme", "value": "dark"}  # what a browser may keep on paper
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [dark]})
    for name, value in (("backgroundColor", "rgb(255, 255, 255)"), ("color", "rgb(28, 33, 40)")):
        assert browser.execute_script(f"return getComputedStyle(document.body).{name}") == value
    script = "return getComputedStyle(document.querySelector('svg.wide')).display"
    assert browser.execute_script(script) == "block"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
