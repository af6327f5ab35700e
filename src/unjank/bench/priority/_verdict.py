"""Whether the kernel did as asked."""

from unjank.bench.priority._experiment import Experiment, Reading


def judge(reading: Reading, experiment: Experiment) -> str:
    """Why a reading cannot be believed; empty if it can."""
    if reading.nices != experiment.nices:
        return f"the kernel had the threads at nice {reading.nices}, not {experiment.nices}"
    if experiment.cpu is not None:
        if any(seen not in ((), (experiment.cpu,)) for seen in reading.cpus) or reading.migrations:
            return f"a thread was not on CPU {experiment.cpu} all the time"
        if reading.cpus_used > 1.02:  # more than one CPU has, beyond what reading the clocks takes
            return f"{reading.cpus_used:.2f} CPUs' time was counted on one CPU"
    if not any(reading.cpu_ns):
        return "the threads got no CPU time at all"
    return ""
