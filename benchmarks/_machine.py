"""Facts about the machine and the interpreter, stored with every result."""

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("unjank", "perfetto", "wasmtime", "viztracer", "protobuf")


def facts() -> dict[str, Any]:
    """CPU, memory, kernel, load, Python and the packages that matter."""
    return {
        "cpu": _cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "load_1min": os.getloadavg()[0],
        "governor": _governor(),
        "python": platform.python_version(),
        "gil": bool(getattr(sys, "_is_gil_enabled", lambda: True)()),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.lower().startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _governor() -> str | None:
    path = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return path.read_text().strip() if path.exists() else None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
