"""Reports: tells a trace's findings to people on a terminal and to programs as JSON.

Layout: `_terminal` draws with rich, `_document` makes the JSON object, `_words` makes a trace's strings safe
to print and short, `_about` tells which findings belong together, `html` makes the page, `_run` does it all
for a file. No rule lives here: what is bad is `findings`' business.
"""

from unjank.report._document import SCHEMA, document, write_document
from unjank.report._run import load_findings, report_trace, write_page
from unjank.report._terminal import lead_sentence, render

__all__ = [
    "SCHEMA",
    "document",
    "lead_sentence",
    "load_findings",
    "render",
    "report_trace",
    "write_document",
    "write_page",
]
