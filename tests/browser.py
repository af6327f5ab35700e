"""A headless Chromium for tests: what a page shows, and what a person can do there."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

_FLAGS = (
    "--headless",
    "--no-sandbox",  # CI runs as root, where the sandbox does not work
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",  # containers have little of it
    "--hide-scrollbars",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def headless_browser(profile: Path, *, width: int = 1280, height: int = 900) -> Iterator[Chrome]:
    """Starts Chromium with an empty profile, and ends it; skips the test where there is none."""
    binary = next(filter(None, map(shutil.which, _NAMES)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    options = ChromeOptions()
    options.binary_location = binary
    for flag in (*_FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Both want a home to write to, and neither shall ask the network for a newer self.
    service = Service(driver, env={**os.environ, "HOME": str(profile), "SE_OFFLINE": "true"})
    browser = Chrome(options, service)
    try:
        browser.set_page_load_timeout(120)
        yield browser
    finally:
        browser.quit()
