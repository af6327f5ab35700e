"""What each CPU does: frequency, governor, idle states."""

from pathlib import Path

from tests.cpu.machines import CPUS, phone, single

from unjank import cpu


def test_frequency_and_governor(tmp_path: Path) -> None:
    """Read through the CPU's policy."""
    power = cpu.read_power(5, phone(tmp_path).tree)
    assert (power.khz, power.low_khz, power.high_khz) == (710_400, 710_400, 2_419_200)
    assert (power.governor, power.driver) == ("schedutil", "cpufreq-dt")
    assert "performance" in power.governors


def test_idle_states_in_their_order(tmp_path: Path) -> None:
    """State 10 comes after state 2."""
    machine = single(tmp_path)
    for number in (0, 2, 10):
        machine.write(f"{CPUS}/cpu0/cpuidle/state{number}/name", f"C{number}")
        machine.write(f"{CPUS}/cpu0/cpuidle/state{number}/latency", number)
        machine.write(f"{CPUS}/cpu0/cpuidle/state{number}/disable", int(number == 2))
    idle = cpu.read_power(0, machine.tree).idle
    assert [(state.name, state.latency_us, state.disabled) for state in idle] == [
        ("C0", 0, False),
        ("C2", 2, True),
        ("C10", 10, False),
    ]


def test_without_cpufreq_cpuinfo_tells(tmp_path: Path) -> None:
    """Virtual machines show a rate there; where they don't, it is absent."""
    machine = single(tmp_path)
    assert cpu.read_power(0, machine.tree).khz is None
    machine.write("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2596.098\n")
    assert cpu.read_frequencies([0, 1], machine.tree) == {0: 2_596_098, 1: None}


def test_an_unsupported_figure_is_absent(tmp_path: Path) -> None:
    """Drivers write `<unsupported>` or `<unknown>`."""
    machine = phone(tmp_path)
    machine.write(f"{CPUS}/cpufreq/policy0/scaling_cur_freq", "<unsupported>")
    assert cpu.read_frequencies([0], machine.tree) == {0: None}
