"""Makes traces of Python programs: who waits for which lock, who holds it, and where.

Layout: `_session` records the process it is in, `_run` starts a program in a process of its own, where
`_child` runs it; both let `_patch` replace Python's locks. `sched` watches the kernel's scheduler.
"""

from unjank.record._session import Recording, record

__all__ = ["Recording", "record"]
