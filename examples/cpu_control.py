"""A worker thread is bound to one CPU and made patient while it works; its effect is shown."""

import threading

from unjank import cpu

topology = cpu.read_topology()
print(f"this process may use CPU {cpu.format_cpu_list(topology.allowed)}")
print(f"clusters: {' | '.join(map(cpu.format_cpu_list, topology.groups('cluster')))}")

stop = threading.Event()
started = threading.Event()


def work() -> None:
    """Keeps a CPU busy until it is told to stop."""
    started.set()
    while not stop.is_set():
        sum(range(1000))


worker = threading.Thread(target=work, name="worker")
worker.start()
started.wait()

cpu.priority(worker, nice=5)  # stays
one = max(topology.allowed)
with cpu.set_affinity(worker, {one}) as applied:  # until the end of the block
    (seen,) = cpu.observe([change.thread for change in applied.changes], seconds=0.2)
    print(f"worker ran on CPU {cpu.format_cpu_list(seen.last_cpus)} only: {seen.last_cpus == {one}}")

back = cpu.get_affinity(worker.native_id)
print(f"afterwards it may use CPU {cpu.format_cpu_list(back)} again")

try:
    cpu.set_affinity(worker, {4000})
except cpu.CpuError as error:
    print(f"refused: {str(error).partition(':')[0]}")

stop.set()
worker.join()
