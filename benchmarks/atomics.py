"""The rewriter of Atomic*FieldUpdater calls: time and memory for a fat jar, direct calls, classes that link.

Goals: 5 s for a jar of 80 MB, warm, on one core; memory at most 10 times the largest entry and 200 MB; 89 %
of the calls direct; no class that links otherwise than before. The first run downloads half a GB of jars.
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import _corpus
from benchmarks._linking import compile_harness, differences, outcomes, rewrite_all
from benchmarks._report import Report, result
from unjank.bench.updaters import find_jdks
from unjank.bench.updaters.jdks import one_per_feature
from unjank.jvm import Decision, OptimizeOptions, scan_archive
from unjank.jvm.model import Target

_REPETITIONS = 5
_TIME_GOAL_S = 5.0
_SHARE_GOAL = 0.89
_MEMORY_FACTOR, _MEMORY_BASE = 10, 200_000_000
_OLDEST = 17
_TARGETS: tuple[Target, ...] = ("varhandle", "unsafe")
# In a process of its own, pinned to one core: its memory is then the rewriter's.
_REWRITE = """
import json, os, resource, sys, time
from pathlib import Path
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
begin, cpu = time.perf_counter(), time.process_time()
from unjank.jvm import OptimizeOptions, optimize_archive
optimize_archive(Path(sys.argv[1]), Path(sys.argv[2]), OptimizeOptions(target=sys.argv[3]))
spent = time.perf_counter() - begin, time.process_time() - cpu
print(json.dumps([*spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""


def run() -> Report:
    """Measures all of it, some minutes."""
    groups = {
        "kotlin": _corpus.wheel_jars(*_corpus.KERNEL),
        "debian": _corpus.debian_jars(_corpus.LARGE),
        "spark": _corpus.wheel_jars(*_corpus.SPARK),
    }
    results = [*_fat_jar(_corpus.main_jar()), *_shares(groups)]
    for name, jars in groups.items():
        results += _link(name, _with_updaters(jars), jars)
    return {"results": results, "ratios": {}}


def _fat_jar(jar: Path) -> list[dict[str, Any]]:
    with zipfile.ZipFile(jar) as archive:
        largest = max(entry.file_size for entry in archive.infolist())
    runs: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(_REPETITIONS + 1):  # the first one warms the cache
            print(f"  … {jar.name}, {turn} of {_REPETITIONS}", flush=True)
            command = [sys.executable, "-c", _REWRITE, str(jar), f"{folder}/out.jar", "varhandle"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            runs.append(json.loads(done.stdout))
    walls, cpus, memory = zip(*runs[1:], strict=True)
    bound = _MEMORY_FACTOR * largest + _MEMORY_BASE
    facts = {"jar": jar.name, "bytes": jar.stat().st_size}
    return [
        result("atomics_fat_jar_wall", "s", walls, **facts),
        result("atomics_fat_jar_cpu", "s", cpus, **facts, goal=_TIME_GOAL_S),
        result("atomics_fat_jar_memory", "bytes", memory, **facts, goal=bound, largest_entry=largest),
    ]


def _shares(groups: dict[str, list[Path]]) -> list[dict[str, Any]]:
    """The share of direct calls: per group, of all but Spark's jars, and of all."""
    sites = {name: _sites(jars) for name, jars in groups.items()}
    sums = {**sites, "kotlin_and_debian": sites["kotlin"] + sites["debian"]}
    sums["all"] = sums["kotlin_and_debian"] + sites["spark"]
    return [_share(name, found) for name, found in sums.items()]


def _sites(jars: Sequence[Path]) -> Counter[str]:
    """Calls by reason; `direct` for those that can be made direct."""
    return Counter(
        "direct" if site.decision is Decision.DIRECT else site.reason
        for jar in jars
        for site in scan_archive(jar).sites
    )


def _share(name: str, found: Counter[str]) -> dict[str, Any]:
    share = found["direct"] / found.total()
    goal = {"goal": _SHARE_GOAL} if name == "kotlin_and_debian" else {}
    facts = {"calls": found.total(), "reasons": dict(found), **goal}
    return result(f"atomics_direct_{name}", "of calls", [share], **facts)


def _with_updaters(jars: Sequence[Path]) -> list[Path]:
    return [jar for jar in jars if scan_archive(jar).updaters]


def _link(name: str, jars: Sequence[Path], others: Sequence[Path]) -> list[dict[str, Any]]:
    """Classes whose outcome differs after the rewrite, per runtime and target; the goal is none."""
    kit = next(jdk for jdk in find_jdks() if jdk.javac and jdk.feature >= _OLDEST)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        harness = compile_harness(kit, Path(folder) / "harness")
        rewritten = {}
        for target in _TARGETS:
            output = Path(folder) / target
            output.mkdir()
            rewritten[target] = rewrite_all(jars, output, OptimizeOptions(target=target, signatures="remove"))
        for jdk in (jdk for jdk in one_per_feature(find_jdks()) if jdk.feature >= _OLDEST):
            before = outcomes(jdk, harness, jars, others)
            for target, (outputs, results) in rewritten.items():
                differ = differences(before, outcomes(jdk, harness, outputs, others), results)
                label = f"atomics_links_otherwise_{name}_{target}_jdk{jdk.feature}"
                facts = {
                    "classes": len(before),
                    "changed": sum(len(one.classes_changed) for one in results),
                    "refused_jars": len(jars) - len(results),
                    "differ": differ,
                }
                found.append(result(label, "classes", [len(differ)], goal=0, **facts))
                print(f"  … {label}: {len(differ)} of {len(before)}", flush=True)
    return found
