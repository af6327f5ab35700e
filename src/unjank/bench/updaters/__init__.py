"""`unjank bench updaters`: Atomic*FieldUpdaters against the same calls made direct, on the JVMs found here.

Layout: `jdks` finds the runtimes, `toolchain` compiles and runs; `operations` and `coroutines` measure, with
`_variants` making what is compared and `_timing` comparing it. The Java programs are in `java`.
"""

from unjank.bench.updaters._run_all import PARTS, run_updaters
from unjank.bench.updaters.jdks import Jdk, find_jdks

__all__ = ["PARTS", "Jdk", "find_jdks", "run_updaters"]
