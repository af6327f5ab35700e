"""Opens the user's browser, where there is one with a window."""

import os
import threading
import webbrowser
from collections.abc import Mapping


def open_browser(url: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Opens a page in the user's browser, without waiting for it.

    Returns:
        False where there is no browser with a window, as over ssh: a browser in the terminal cannot show
        a timeline, and would take the terminal away.
    """
    if not any(environment.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")):
        return False
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    # Some browsers run until they are closed.
    threading.Thread(target=browser.open, args=(url,), name="unjank browser", daemon=True).start()
    return True
