"""What to change, said once for all rules about locks."""

from collections.abc import Sequence

from unjank.findings._contention import Contention
from unjank.findings._groups import owner_name
from unjank.findings._owner_states import OwnerStates
from unjank.findings._sentences import in_code, lock_in_advice

_MOSTLY = 0.5  # of the owner's time

# A class of the framework, or its file where logcat's samples name no class.
_MESSAGE_QUEUE = ("android.os.MessageQueue.", "MessageQueue.java:")


def contention_advice(wait: Contention, chain: Sequence[Contention], states: OwnerStates) -> str:
    """Advice on a wait for a lock, with who blocked the owner and what the owner did meanwhile."""
    if any(link.is_join for link in chain):
        return "Don't wait for a thread to end while holding a lock: let go of the lock first."
    if chain and chain[-1].owner in {wait.waiter, *(link.waiter for link in chain)}:
        return "The threads wait for each other: take the locks in the same order everywhere."
    if chain:
        last = chain[-1]
        return (
            f"The lock at fault is further on: {owner_name(last)} holds {lock_in_advice(last)}. "
            "Don't take one lock while holding another, or shorten what is done under the last one."
        )
    if is_message_queue(wait):
        return message_queue_advice()
    if states.on_disk_share > _MOSTLY:
        function = f" (in {states.main_function})" if states.main_function else ""
        return (
            f"The owner waited for a disk or for memory{function} while it held {lock_in_advice(wait)}: read "
            "and write before taking the lock or after letting go of it."
        )
    place = f" in {in_code(wait.owner_site)}" if wait.lock and wait.owner_site else ""
    return (
        f"Do less while holding {lock_in_advice(wait)}{place}: move work, input and output out of the lock, "
        "split it, or hand the work over in a message instead of sharing the data."
    )


def inversion_advice(wait: Contention, *, outranked: bool, rivals_known: bool) -> str:
    """Advice on a wait for a thread that was kept off the CPU."""
    owner = owner_name(wait)
    advice = f"Keep {owner} from being paused while it holds {lock_in_advice(wait)}: "
    if outranked:
        advice += f"give it the waiter's priority for that time, or don't share a lock with {owner} at all"
    else:
        advice += "run fewer busy threads than there are CPUs, or give the competing threads other CPUs"
    if not rivals_known:
        advice += ". Record with the kernel's scheduling (--sched ftrace, as root) to see who took the CPU"
    return advice + "."


def message_queue_advice() -> str:
    """Advice on waits for the lock of Android's MessageQueue."""
    return (
        "Post fewer messages from fewer threads, and nothing that can wait while the thread is busy. "
        "From Android 17 on, apps that target SDK 37 get a message queue without this lock."
    )


def is_message_queue(wait: Contention) -> bool:
    """True if the wait is for the lock of Android's MessageQueue."""
    sites = (wait.waiter_site, wait.owner_site)
    return wait.lock is None and any(site and site.method.startswith(_MESSAGE_QUEUE) for site in sites)
