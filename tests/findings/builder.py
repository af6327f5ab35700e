"""Builds small traces as the recorder writes them: threads, contended locks, waits, facts, scheduling."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackEvent
from perfetto.trace_builder.proto_builder import TraceProtoBuilder

Args = Mapping[str, int | str]

MS = 1_000_000
US = 1_000
_SEQUENCE = 7
_PREEMPTED = 0x100  # the kernel's mark on a task that was switched out while it could still run
_CLONE_THREAD = 0x10000
APP_DEADLINE_MISSED = 64  # perfetto's JankType
SURFACE_FLINGER_SCHEDULING = 2
_BOOT_CLOCK, _WALL_CLOCK = 6, 1  # perfetto's BuiltinClock
_STATES = {"S": 1, "D": 2, "R": 0, "R+": _PREEMPTED}


@dataclass(frozen=True)
class Thread:
    """A thread of a trace that is being built; its track has the same number as its thread id."""

    pid: int
    tid: int
    name: str


@dataclass(frozen=True)
class Run:
    """A thread on a CPU from `start` to `end`, then in `state`; `prio` is the kernel's number."""

    thread: Thread
    start: int
    end: int
    state: str = "S"
    prio: int = 120


def encode(fields: Mapping[int, int | bytes]) -> bytes:
    """Encodes a protobuf message of numbers, texts and messages by field number."""
    message = b""
    for field, value in fields.items():
        if isinstance(value, int):
            message += _varint(field << 3) + _varint(value)
        else:
            message += _varint(field << 3 | 2) + _varint(len(value)) + value
    return message


def _varint(value: int) -> bytes:
    more, last = value >> 7, value & 0x7F
    return bytes([last | 0x80]) + _varint(more) if more else bytes([last])


class TraceBuilder:
    """Collects packets; `data()` gives the trace's bytes."""

    def __init__(self) -> None:
        self._trace: Any = TraceProtoBuilder()
        # The engine reads the state of a switched-out task by the kernel's version.
        system = self._packet(0).system_info.utsname
        system.sysname, system.version, system.release, system.machine = "Linux", "#1", "6.1.0", "x86_64"
        self._processes: dict[int, str] = {}
        self._frames = 0
        self._symbols: list[str] = []

    def data(self) -> bytes:
        """The trace."""
        return bytes(self._trace.serialize())

    def process(self, pid: int, name: str) -> int:
        """Adds a process; its track is 1,000,000 + pid."""
        packet = self._packet(0)
        packet.track_descriptor.uuid = 1_000_000 + pid
        packet.track_descriptor.process.pid = pid
        packet.track_descriptor.process.process_name = name
        self._processes[pid] = name
        return pid

    def thread(self, pid: int, tid: int, name: str) -> Thread:
        """Adds a thread, and its process if that is new."""
        if pid not in self._processes:
            self.process(pid, "app.py")
        packet = self._packet(0)
        packet.track_descriptor.uuid = tid
        packet.track_descriptor.thread.pid = pid
        packet.track_descriptor.thread.tid = tid
        packet.track_descriptor.thread.thread_name = name
        return Thread(pid, tid, name)

    def contention(
        self,
        waiter: Thread,
        owner: Thread,
        start: int,
        end: int | None,
        *,
        lock: str = "Ledger._lock (bank.py:4)",
        lock_id: int = 1,
        result: str = "acquired",
        owner_site: str = "Ledger.post()(bank.py:20)",
        waiter_site: str = "Ledger.read()(bank.py:30)",
        waiters: int = 0,
        end_args: Args | None = None,
    ) -> None:
        """Adds a contended lock as unjank's recorder writes it; `end=None` leaves it open."""
        name = (
            f"monitor contention with owner {owner.name} ({owner.tid}) at void {owner_site} "
            f"waiters={waiters} blocking from void {waiter_site}"
        )
        args: Args = {
            "lock": lock,
            "lock_id": lock_id,
            "lock_type": "Lock",
            "owner_tid": owner.tid,
            "waiters": waiters,
            "stack": "Ledger.read (bank.py:30) < main (bank.py:50)",
        }
        self.slice(waiter, name, start, end, "lock", args, {"result": result, **(end_args or {})})

    def post(
        self,
        poster: Thread,
        looper: Thread,
        ts: int,
        *,
        due_in: int = 0,
        flow: int = 0,
        number: int = 1,
        site: str = "Feed.read()(feed.py:30)",
    ) -> None:
        """Adds a message for a looper; `flow` leads to its dispatch."""
        args: Args = {"looper": number, "looper_tid": looper.tid, "due_in_ns": due_in, "site": f"void {site}"}
        event = self._event(ts, poster.tid, TrackEvent.TYPE_INSTANT, args)
        event.name = "post Screen.draw"
        event.categories.append("mq")
        if flow:
            event.flow_ids.append(flow)

    def dispatch(
        self,
        looper: Thread,
        start: int,
        end: int | None,
        *,
        delay: int | None,
        flow: int = 0,
        number: int = 1,
        callback: str = "Screen.draw (screen.py:8)",
    ) -> None:
        """Adds a message that a looper ran; `delay=None` for a virtual clock."""
        args: dict[str, int | str] = {"looper": number, "callback": callback}
        if delay is not None:
            args["delay_ns"] = delay
        begin = self._event(start, looper.tid, TrackEvent.TYPE_SLICE_BEGIN, args)
        begin.name = f"dispatch {callback.partition(' ')[0]}"
        begin.categories.append("mq")
        if flow:
            begin.terminating_flow_ids.append(flow)
        if end is not None:
            self._event(end, looper.tid, TrackEvent.TYPE_SLICE_END, None)

    def queue_length(self, looper: Thread, ts: int, length: int, *, number: int = 1) -> None:
        """Adds the length of a looper's queue."""
        track = 2_000_000 + number
        descriptor = self._packet(0).track_descriptor
        descriptor.uuid, descriptor.parent_uuid = track, looper.tid
        descriptor.name = f"messages pending (looper {number})"
        descriptor.counter.SetInParent()
        self._event(ts, track, TrackEvent.TYPE_COUNTER, None).counter_value = length

    def self_wait(
        self, thread: Thread, start: int, end: int | None, *, lock_id: int = 1, result: str = "acquired"
    ) -> None:
        """Adds a wait for a lock that the thread itself took."""
        args: Args = {
            "object": "Ledger._lock (bank.py:4)",
            "lock_id": lock_id,
            "site": "void Ledger.read()(bank.py:30)",
        }
        self.slice(thread, "wait Lock.acquire", start, end, "wait", args, {"result": result})

    def join(
        self, thread: Thread, other: Thread, start: int, end: int | None, result: str = "acquired"
    ) -> None:
        """Adds a wait for the end of another thread."""
        args: Args = {"object": other.name, "site": "void Pool.close()(pool.py:10)"}
        self.slice(thread, "wait Thread.join", start, end, "wait", args, {"result": result})

    def slice(
        self,
        thread: Thread,
        name: str,
        start: int,
        end: int | None,
        category: str = "",
        begin_args: Args | None = None,
        end_args: Args | None = None,
    ) -> None:
        """Adds a slice on a thread's track."""
        begin = self._event(start, thread.tid, TrackEvent.TYPE_SLICE_BEGIN, begin_args)
        begin.name = name
        begin.categories.append(category)
        if end is not None:
            self._event(end, thread.tid, TrackEvent.TYPE_SLICE_END, end_args)

    def instant(self, track: int, ts: int, name: str, category: str = "unjank", **args: int | str) -> None:
        """Adds an instant on a track."""
        event = self._event(ts, track, TrackEvent.TYPE_INSTANT, args)
        event.name = name
        event.categories.append(category)

    def session(self, pid: int, *, sched: str = "ftrace", ended: bool = True, **args: str) -> None:
        """Adds the recorder's words about itself."""
        self.instant(1_000_000 + pid, 0, "session", sched=sched, **args)
        if ended:
            self.instant(1_000_000 + pid, 1, "session end", exit="exited")

    def schedule(self, cpu: int, runs: list[Run]) -> None:
        """Adds what ran on a CPU, as switches; between runs it is idle."""
        idle = Thread(0, 0, "swapper")
        running, state, prio = idle, "R", 120
        for run in runs:
            self._switch(cpu, run.start, running, state, prio, run.thread, run.prio)
            running, state, prio = run.thread, run.state, run.prio
            following = next((other for other in runs if other.start == run.end), None)
            if following is None:
                self._switch(cpu, run.end, running, state, prio, idle, 120)
                running, state, prio = idle, "R", 120

    def waking(
        self,
        ts: int,
        thread: Thread,
        cpu: int,
        *,
        prio: int = 120,
        by: Thread | None = None,
        on: int | None = None,
    ) -> None:
        """Adds the moment in which a sleeping thread became runnable, woken `by` one that ran `on` a CPU."""
        event = self._ftrace(cpu if on is None else on, ts, by.tid if by else 0)
        event.sched_waking.comm = thread.name
        event.sched_waking.pid = thread.tid
        event.sched_waking.prio = prio
        event.sched_waking.target_cpu = cpu
        event.sched_waking.success = 1

    def blocked_in(self, ts: int, thread: Thread, function: str, *, io_wait: bool = True) -> None:
        """Adds the kernel's word on where a thread that sleeps was blocked, told when it is woken."""
        symbol = len(self._symbols) + 1
        self._symbols.append(function)
        packet = self._packet(None)
        packet.sequence_flags = 1 if symbol == 1 else 2  # the first one clears what was interned before
        packet.interned_data.kernel_symbols.add(iid=symbol, str=function.encode())
        event = self._ftrace(0, ts, 0)
        reason = event.sched_blocked_reason
        reason.pid, reason.caller, reason.io_wait = thread.tid, symbol, int(io_wait)

    def new_task(self, ts: int, parent: Thread, child: Thread) -> None:
        """Adds the kernel's word on a new thread of the parent's process, still with the parent's name."""
        event = self._ftrace(0, ts, parent.tid)
        event.task_newtask.pid = child.tid
        event.task_newtask.comm = parent.name
        event.task_newtask.clone_flags = _CLONE_THREAD

    def log(
        self, thread: Thread, ts: int, message: str, *, tag: str = "app", fields: Args | None = None
    ) -> None:
        """Adds a logcat entry; `fields` are those of the event log, which has no message."""
        packet = self._packet(ts)
        # The log's clock is the wall's; here both show the same.
        for clock in (_BOOT_CLOCK, _WALL_CLOCK):
            packet.clock_snapshot.clocks.add(clock_id=clock, timestamp=ts)
        event = self._packet(ts).android_log.events.add()
        event.pid, event.tid, event.timestamp, event.tag = thread.pid, thread.tid, ts, tag
        event.message = message
        for name, value in (fields or {}).items():
            if isinstance(value, int):
                event.args.add(name=name, int_value=value)
            else:
                event.args.add(name=name, string_value=value)

    def android_post(
        self, sender: Thread, receiver: str, ts: int, *, code: int, delay_ms: int = 0, flow: int = 0
    ) -> None:
        """Adds a message as Android's category mq tells it; `flow` leads to where it runs."""
        event = self._event(ts, sender.tid, TrackEvent.TYPE_INSTANT, None)
        event.name = "message_queue_send"
        event.categories.append("mq")
        if flow:
            event.flow_ids.append(flow)
        # AndroidMessageQueue, an extension that perfetto's Python package does not have.
        event.MergeFromString(encode({2004: encode({2: receiver.encode(), 3: code, 4: delay_ms})}))

    def android_receive(self, looper: Thread, start: int, end: int, *, flow: int) -> None:
        """Adds a message that an Android looper ran."""
        begin = self._event(start, looper.tid, TrackEvent.TYPE_SLICE_BEGIN, None)
        begin.name = "message_queue_receive"
        begin.categories.append("mq")
        begin.terminating_flow_ids.append(flow)
        self._event(end, looper.tid, TrackEvent.TYPE_SLICE_END, None)

    def frame(self, pid: int, start: int, end: int, *, jank: int = APP_DEADLINE_MISSED) -> None:
        """Adds a frame as the frame timeline has it; `jank` is perfetto's JankType."""
        self._frames += 1
        cookie = {1: self._frames}
        token = {2: self._frames, 3: 1000 + self._frames}
        shown = {6: 2, 7: 0, 9: jank, 10: 1}  # late; not in time; why; the time was predicted
        actual = encode({**cookie, **token, 4: pid, 5: b"layer", **shown})
        # FrameTimelineEvent, which perfetto's Python package does not have.
        self._packet(start).MergeFromString(encode({76: encode({4: actual})}))
        self._packet(end).MergeFromString(encode({76: encode({5: encode(cookie)})}))

    def startup(self, main: Thread, package: str, start: int, end: int) -> None:
        """Adds a warm start of an app, as system_server and the app's main thread tell it."""
        self.process(1, "system_server")
        self._slice(1_000_001, f"launching: {package}", start, end)
        # At the end, where it has no slices to nest in.
        self._slice(main.tid, "activityStart", end - 4, end - 3)
        self._slice(main.tid, "activityResume", end - 2, end - 1)

    def _slice(self, track: int, name: str, start: int, end: int) -> None:
        self._event(start, track, TrackEvent.TYPE_SLICE_BEGIN, None).name = name
        self._event(end, track, TrackEvent.TYPE_SLICE_END, None)

    def process_tree(self, pid: int, *command_line: str, parent: int = 1) -> None:
        """Adds the kernel's word on a process: its command line, and who started it."""
        process = self._packet(0).process_tree.processes.add()
        process.pid, process.ppid = pid, parent
        process.cmdline.extend(command_line)

    def _switch(
        self, cpu: int, ts: int, prev: Thread, state: str, prev_prio: int, following: Thread, prio: int
    ) -> None:
        event = self._ftrace(cpu, ts, prev.tid)
        switch = event.sched_switch
        switch.prev_comm, switch.prev_pid, switch.prev_prio = prev.name, prev.tid, prev_prio
        switch.prev_state = _STATES[state]
        switch.next_comm, switch.next_pid, switch.next_prio = following.name, following.tid, prio

    def _ftrace(self, cpu: int, ts: int, pid: int) -> Any:
        packet = self._packet(None)
        packet.ftrace_events.cpu = cpu
        event = packet.ftrace_events.event.add()
        event.timestamp, event.pid = ts, pid
        return event

    def _event(self, ts: int, track: int, kind: TrackEvent.Type, args: Args | None) -> Any:
        packet = self._packet(ts)
        packet.track_event.type = kind
        packet.track_event.track_uuid = track
        for name, value in (args or {}).items():
            annotation = packet.track_event.debug_annotations.add()
            annotation.name = name
            if isinstance(value, int):
                annotation.int_value = value
            else:
                annotation.string_value = value
        return packet.track_event

    def _packet(self, ts: int | None) -> TracePacket:
        packet: TracePacket = self._trace.add_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        if ts is not None:
            packet.timestamp = ts
        return packet
