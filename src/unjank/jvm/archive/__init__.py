"""Zip archives, entry by entry and byte by byte: what is not changed is copied as it stands.

zip_format.py  records of the format
zip_reader.py  a directory of entries, and their content within limits
zip_writer.py  copies entries, adds entries
limits.py      what an untrusted archive may not do
manifest.py    MANIFEST.MF and signatures
layout.py      kinds of archives, layers, nested archives
"""

from unjank.jvm.archive.zip_format import Entry
from unjank.jvm.archive.zip_reader import ZipReader
from unjank.jvm.archive.zip_writer import ZipWriter

__all__ = ["Entry", "ZipReader", "ZipWriter"]
