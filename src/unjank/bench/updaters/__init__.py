"""Java on this machine: runtimes are found, sources compiled, programs run.

Layout: `jdks` finds the runtimes, `toolchain` compiles, packs and runs.
"""

from unjank.bench.updaters.jdks import Jdk, find_jdks

__all__ = ["Jdk", "find_jdks"]
