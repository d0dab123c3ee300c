"""Overhead of an isolated job of a solver that does nothing: split, metrics, record on disk and limits included."""

from pathlib import Path

BENCHOPT_SECONDS = (0.004, 0.008)  # for a run of version 1.10, without isolation: in parallel, and one after the other


def test_overhead(benchmark, against_seconds, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    import test_large_sweeps as sweeps

    found = benchmark.pedantic(sweeps.run, args=(1000, tmp_path / "records"), rounds=1)
    benchmark.extra_info |= found
    what, size, peer = "a job that does nothing", "1000 jobs, one worker", "benchopt 1.10, not isolated (noted)"
    quality = f"of tenths: median {found['median_ms']:.1f} ms, least {found['least_ms']:.1f} ms"
    against_seconds(found["ms"] / 1e3, BENCHOPT_SECONDS, what, size, peer, quality)
