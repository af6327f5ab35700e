"""Says what happened in one plain sentence, for `detail["summary"]` of the rules about locks."""

from collections.abc import Sequence

from unjank.findings._contention import Contention
from unjank.findings._groups import known_owner, owner_name
from unjank.findings._slice_name import Site
from unjank.findings._threads import Thread
from unjank.findings._units import format_duration


def wait_sentence(wait: Contention, chain: Sequence[Contention] = ()) -> str:
    """Tells one wait, without the full stop: who, how long, for what, held by whom and where."""
    waited = f"{who(wait.waiter)} {_waited(wait)} {_for_what(wait)}"
    held = f"held by {owner_name(wait)}" if known_owner(wait) or not wait.owner_site else "held"
    if wait.owner_site:
        held += f" in {in_code(wait.owner_site)}"
    if chain:
        held += f", which itself waited for {short_lock(chain[0])}{held_by(chain[0])}"
    return f"{waited} when the trace ended; it was {held}" if wait.is_open else f"{waited}, {held}"


def held_by(wait: Contention) -> str:
    """Who holds the lock, as the end of a sentence; nothing for a wait for a thread's end, which names it."""
    return "" if wait.is_join else f", held by {owner_name(wait)}"


def short_lock(wait: Contention) -> str:
    """The lock's name, or where the waiter blocked on it; the owner's site is told with the owner."""
    if wait.lock:
        return wait.lock
    return f"a monitor in {in_code(wait.waiter_site)}" if wait.waiter_site else "a monitor"


def who(thread: Thread) -> str:
    """A thread and its process."""
    return f"{thread.name} ({thread.process})" if thread.process else thread.name


def in_code(site: Site) -> str:
    """A code location with its last two names only: `MessageQueue.next() (MessageQueue.java:335)`."""
    return str(Site(short_method(site.method), site.file, site.line))


def short_method(method: str) -> str:
    """The last name of a qualified one and the class it belongs to."""
    return ".".join(method.split(".")[-2:])


def listed(names: Sequence[str], at_most: int = 3) -> str:
    """Joins names as a sentence does: `a`, `a and b`, `a, b and 3 others`."""
    shown = list(names[:at_most])
    left = len(names) - len(shown)
    if left:
        shown.append(f"{left} other{'s' if left > 1 else ''}")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def lock_in_advice(wait: Contention) -> str:
    """The lock's name, or where its owner took it, else where the waiter wanted it."""
    if wait.lock:
        return wait.lock
    if wait.owner_site:
        return f"the monitor taken in {in_code(wait.owner_site)}"
    return f"the monitor that {in_code(wait.waiter_site)} waited for" if wait.waiter_site else "the monitor"


def _for_what(wait: Contention) -> str:
    if wait.lock or not wait.waiter_site:
        return f"for {short_lock(wait)}"
    return f"in {in_code(wait.waiter_site)} for a monitor"


def _waited(wait: Contention) -> str:
    duration = format_duration(wait.dur)
    if wait.is_open:
        return f"had waited {duration}"
    if wait.result == "timeout":
        return f"waited {duration} in vain"
    return f"waited {duration}"
