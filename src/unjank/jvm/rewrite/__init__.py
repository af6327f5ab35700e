"""Calls made direct: class files changed, and helpers written for them.

cell.py       what a helper works on: one updated field, and where its offset or VarHandle is kept
backends.py   the operations through sun.misc.Unsafe and through VarHandle
helpers.py    helper methods with typed parameters
initialise.py how the offset or VarHandle is had when a class is initialised
changes.py    from plans to what is done to each class
owner.py      the class that had the updater
companion.py  the class beside it, for updaters that stay
calls.py      patches of the same size in callers
serial.py     serialVersionUID
verify.py     reads the output again
"""
