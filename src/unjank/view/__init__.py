"""View: the Perfetto UI with a trace open, served to this machine's browser, offline.

Layout: `_site` is what may be asked for (the UI's files and one trace), `_server` answers, `_presence` knows
whether a tab is open, `_browser` opens one, `_serve` puts them together. `tab.js` runs inside the UI's page.
"""

from unjank.view._browser import open_browser
from unjank.view._serve import PREFERRED_PORT, ServedTrace, serve_trace

__all__ = ["PREFERRED_PORT", "ServedTrace", "open_browser", "serve_trace"]
