"""What becomes of each updater and each call, over all classes of one archive.

operations.py  the updaters' methods
reasons.py     codes and words for decisions
updaters.py    updater fields of a class
summary.py     one class
hierarchy.py   subclasses
resolve.py     names to updaters, through accessors
decide.py      call by call
room.py        what constant pools have room for
scope.py       one archive
plan.py        updater by updater
records.py     decisions as users see them
"""
