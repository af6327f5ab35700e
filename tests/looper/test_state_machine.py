"""Random operations against a model in plain Python, on both queues at once."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from unjank import Handler, Looper, Message
from unjank.looper import Posted

HANDLERS = 2
TOKENS = [object(), object()]
DELAYS = st.sampled_from([-5.0, 0.0, 0.0, 1.0, 1.0, 2.0, 5.0, 1e12])
TOKEN = st.sampled_from([None, 0, 1])
HANDLER = st.integers(0, HANDLERS - 1)
CODE = st.integers(0, 2)


@dataclass(eq=False)
class Entry:
    """A pending message of the model."""

    handler: int
    due: float
    label: str
    what: int | None = None
    callback: int | None = None
    obj: int | None = None
    token: int | None = None
    front: bool = False
    asynchronous: bool = False
    barrier: bool = False


@dataclass
class Model:
    """A sorted list: what a message queue means."""

    now: float = 0.0
    pending: list[Entry] = field(default_factory=list)

    def insert(self, entry: Entry) -> None:
        """Behind what is due earlier or at the same time; at the front before everything."""
        at = 0
        if not entry.front:
            while at < len(self.pending) and (self.pending[at].front or self.pending[at].due <= entry.due):
                at += 1
        self.pending.insert(at, entry)

    def remove(self, fits: Callable[[Entry], bool]) -> int:
        """Removes what fits; how many."""
        before = len(self.pending)
        self.pending = [entry for entry in self.pending if entry.barrier or not fits(entry)]
        return before - len(self.pending)

    def next(self) -> Entry | None:
        """Takes the next runnable message that is due."""
        head_is_barrier = bool(self.pending) and self.pending[0].barrier
        for entry in self.pending:
            if entry.barrier or (head_is_barrier and not entry.asynchronous):
                continue
            if entry.front or entry.due <= self.now:
                self.pending.remove(entry)
                return entry
            return None
        return None


class Side:
    """One real looper with its handlers, driven by hand."""

    def __init__(self, queue: str) -> None:
        self.looper = Looper(queue, virtual_clock=True)  # type: ignore[arg-type]  # both are names of queues
        self.log: list[str] = []
        self.handlers = [self._handler(asynchronous=n == 1) for n in range(HANDLERS)]
        self.callbacks = [self._callback(n) for n in range(3)]
        self.posted: list[Posted] = []
        self.barriers: list[Posted] = []

    def _handler(self, *, asynchronous: bool) -> Handler:
        log = self.log

        class Logging(Handler):
            def handle_message(self, message: Message) -> None:
                log.append(f"message {message.what} {message.arg1}")

        return Logging(self.looper, asynchronous=asynchronous)

    def _callback(self, number: int) -> Callable[[int], None]:
        def callback(serial: int) -> None:
            self.log.append(f"callback {number} {serial}")

        return callback


class Queues(RuleBasedStateMachine):
    """Each rule does the same to the model and to both queues, and compares the answers."""

    @initialize()
    def begin(self) -> None:
        """Empty queues at time 0."""
        self.model = Model()
        self.sides = [Side("lockfree"), Side("locked")]
        self.scheduled: list[Entry] = []
        self.standing: list[Entry] = []
        self.serial = 0

    def _both(self, call: Callable[[Side], object]) -> object:
        answers = [call(side) for side in self.sides]
        assert answers[0] == answers[1]
        return answers[0]

    def _entry(self, handler: int, delay: float, kind: str, number: int, token: int | None) -> Entry:
        self.serial += 1
        due = self.model.now + max(0.0, delay)
        entry = Entry(handler, due, f"{kind} {number} {self.serial}", token=token, asynchronous=handler == 1)
        if kind == "callback":
            entry.callback = number
        else:
            entry.what = number
        return entry

    @rule(handler=HANDLER, callback=CODE, delay=DELAYS, token=TOKEN)
    def post(self, handler: int, callback: int, delay: float, token: int | None) -> None:
        """Posts a callback."""
        self.model.insert(self._entry(handler, delay, "callback", callback, token))
        assert self._both(
            lambda side: side.handlers[handler].post_delayed(
                side.callbacks[callback], delay, self.serial, token=None if token is None else TOKENS[token]
            )
        )

    @rule(handler=HANDLER, callback=CODE)
    def post_at_front(self, handler: int, callback: int) -> None:
        """Posts before everything."""
        entry = self._entry(handler, 0, "callback", callback, None)
        entry.front = True
        self.model.insert(entry)
        self._both(lambda side: side.handlers[handler].post_at_front(side.callbacks[callback], self.serial))

    @rule(handler=HANDLER, callback=CODE, delay=DELAYS)
    def schedule(self, handler: int, callback: int, delay: float) -> None:
        """Posts a callback to cancel later."""
        entry = self._entry(handler, delay, "callback", callback, None)
        self.model.insert(entry)
        self.scheduled.append(entry)
        for side in self.sides:
            posted = side.handlers[handler].schedule(side.callbacks[callback], delay, self.serial)
            side.posted.append(posted)

    @precondition(lambda self: self.scheduled)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        """Cancels one, ran or not, cancelled or not."""
        at = data.draw(st.integers(0, len(self.scheduled) - 1))
        expected = self.model.remove(lambda entry: entry is self.scheduled[at]) == 1
        assert self._both(lambda side: side.posted[at].cancel()) == expected

    @rule(handler=HANDLER, what=CODE, delay=DELAYS, token=TOKEN, obj=TOKEN)
    def send(self, handler: int, what: int, delay: float, token: int | None, obj: int | None) -> None:
        """Sends a message; its token is its obj unless it has one."""
        entry = self._entry(handler, delay, "message", what, obj if token is None else token)
        entry.obj = obj
        self.model.insert(entry)
        objects = [None if index is None else TOKENS[index] for index in (obj, token)]
        self._both(
            lambda side: side.handlers[handler].send(
                what, self.serial, obj=objects[0], delay=delay, token=objects[1]
            )
        )

    @rule(handler=HANDLER, what=CODE, obj=TOKEN)
    def remove_messages(self, handler: int, what: int, obj: int | None) -> None:
        """By code, and obj."""
        expected = self.model.remove(
            lambda entry: entry.handler == handler and entry.what == what and obj in (None, entry.obj)
        )
        wanted = None if obj is None else TOKENS[obj]
        assert self._both(lambda side: side.handlers[handler].remove_messages(what, wanted)) == expected

    @rule(handler=HANDLER, callback=CODE, token=TOKEN)
    def remove_callbacks(self, handler: int, callback: int, token: int | None) -> None:
        """By callback, and token."""
        expected = self.model.remove(
            lambda entry: (
                entry.handler == handler and entry.callback == callback and token in (None, entry.token)
            )
        )
        wanted = None if token is None else TOKENS[token]
        assert (
            self._both(lambda side: side.handlers[handler].remove_callbacks(side.callbacks[callback], wanted))
            == expected
        )

    @rule(handler=HANDLER, token=TOKEN)
    def remove_all(self, handler: int, token: int | None) -> None:
        """By token, or everything."""
        expected = self.model.remove(lambda entry: entry.handler == handler and token in (None, entry.token))
        wanted = None if token is None else TOKENS[token]
        assert self._both(lambda side: side.handlers[handler].remove_all(wanted)) == expected

    @rule(delay=st.sampled_from([0.0, 1.0, 3.0]))
    def post_barrier(self, delay: float) -> None:
        """A sync barrier."""
        entry = Entry(-1, self.model.now + delay, "barrier", barrier=True)
        self.model.insert(entry)
        self.standing.append(entry)
        for side in self.sides:
            side.barriers.append(side.looper.post_sync_barrier(self.model.now + delay))

    @precondition(lambda self: self.standing)
    @rule(data=st.data())
    def remove_barrier(self, data: st.DataObject) -> None:
        """Lifts one, standing or lifted."""
        at = data.draw(st.integers(0, len(self.standing) - 1))
        entry = self.standing[at]
        expected = entry in self.model.pending
        if expected:
            self.model.pending.remove(entry)
        assert self._both(lambda side: side.looper.remove_sync_barrier(side.barriers[at])) == expected

    @rule(seconds=st.sampled_from([0.5, 1.0, 3.0]))
    def advance(self, seconds: float) -> None:
        """Time passes."""
        self.model.now += seconds
        for side in self.sides:
            side.looper._advance(seconds)

    @rule(count=st.integers(1, 5))
    def step(self, count: int) -> None:
        """Runs some messages."""
        for _ in range(count):
            entry = self.model.next()
            assert self._both(lambda side: side.looper._step(0.0)) == (entry is not None)
            for side in self.sides:
                assert side.log == ([] if entry is None else [entry.label])
                side.log.clear()

    @rule(handler=HANDLER, number=CODE)
    def ask(self, handler: int, number: int) -> None:
        """has_messages() and has_callbacks()."""
        mine = [entry for entry in self.model.pending if entry.handler == handler]
        assert self._both(lambda side: side.handlers[handler].has_messages(number)) == any(
            entry.what == number for entry in mine
        )
        assert self._both(lambda side: side.handlers[handler].has_callbacks(side.callbacks[number])) == any(
            entry.callback == number for entry in mine
        )

    @invariant()
    def same_length(self) -> None:
        """Both hold as much as the model, and know whether something is due."""
        if not hasattr(self, "model"):
            return
        assert self._both(lambda side: len(side.looper._pending())) == len(self.model.pending)
        due = any(not e.barrier and (e.front or e.due <= self.model.now) for e in self.model.pending)
        assert self._both(lambda side: side.looper.is_idle()) == (not due)


TestQueues = Queues.TestCase
TestQueues.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
