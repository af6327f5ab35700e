"""Writes query results, one format per file."""
