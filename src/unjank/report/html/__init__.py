"""The report as a page: one HTML file with pictures, tables and SQL, which opens offline.

Layout: `_stalls` makes a card of each of the worst stalls, with `_cast` (who is in the picture), `_timeline`
(what they did, by SQL) and `_drawing` (shapes); `_tables` lists all findings; `_coverage` says what the trace
lacks; `_page` puts it into `templates/`.
"""

from unjank.report.html._page import render_html

__all__ = ["render_html"]
