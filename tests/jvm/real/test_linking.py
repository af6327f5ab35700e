"""Libraries from Debian and PyPI: how many calls become direct, and that every class links as before."""

from pathlib import Path

import pytest
from benchmarks._linking import LINKED, differences, outcomes, rewrite_all
from tests.jvm.real.rewriting import Rewritten, Way

from unjank.bench.updaters import Jdk
from unjank.bench.updaters.coroutines import pick
from unjank.jvm import Decision, OptimizeResult, Reason, scan_archive

_DIRECT_SHARE = 0.89
_WAYS = [Way("varhandle"), Way("unsafe")]


def test_most_calls_are_direct(kernel_jars: list[Path], debian_jars: list[Path]) -> None:
    """At least 89 % over coroutines, netty, JCTools, XNIO and the Disruptor; all others have a reason."""
    sites = [site for jar in (*kernel_jars, *debian_jars) for site in scan_archive(jar).sites]
    kept = [site for site in sites if site.decision is Decision.KEPT]
    assert len(sites) > 600
    assert 1 - len(kept) / len(sites) >= _DIRECT_SHARE
    for site in kept:
        assert site.detail == Reason(site.reason).explanation
        assert Reason(site.reason) not in (Reason.PROVEN, Reason.CHECKED_VALUE)


@pytest.mark.parametrize("way", _WAYS, ids=str)
def test_debian_jars_link_as_before(
    jdk: Jdk, link_all: Path, debian_jars: list[Path], rewritten_debian: Rewritten, way: Way
) -> None:
    """Each class of netty, JCTools, XNIO and the Disruptor has the outcome that it had."""
    before = outcomes(jdk, link_all, debian_jars)
    assert sum(outcome == LINKED for outcome in before.values()) > 2000
    outputs, results = rewritten_debian(way)
    assert len(results) == len(debian_jars)
    assert differences(before, outcomes(jdk, link_all, outputs), results) == {}


@pytest.mark.parametrize("way", _WAYS, ids=str)
def test_coroutines_link_as_before(
    jdk: Jdk, link_all: Path, kernel_jars: list[Path], tmp_path: Path, way: Way
) -> None:
    """Each class of kotlinx.coroutines links."""
    jar = pick(kernel_jars, "kotlinx/coroutines/", tmp_path / "coroutines.jar")
    (library,) = (path for path in kernel_jars if path.name.startswith("kotlin-stdlib"))
    before = outcomes(jdk, link_all, [jar], [library])
    assert set(before.values()) == {LINKED}
    outputs, results = rewrite_all([jar], tmp_path, way.options)
    assert len(results) == 1
    assert differences(before, outcomes(jdk, link_all, outputs, [library]), results) == {}


def test_everything_in_a_fat_jar_links_as_before(
    jdk: Jdk, link_all: Path, kernel_jars: list[Path], rewritten_compiler: OptimizeResult
) -> None:
    """39,000 classes: the Kotlin compiler, coroutines, and all that the kernel brings."""
    others = [path for path in kernel_jars if not path.name.endswith("-all.jar")]
    before = outcomes(jdk, link_all, [Path(rewritten_compiler.source)], others)
    assert len(before) > 39_000
    after = outcomes(jdk, link_all, [Path(rewritten_compiler.output)], others)
    assert differences(before, after, [rewritten_compiler]) == {}
