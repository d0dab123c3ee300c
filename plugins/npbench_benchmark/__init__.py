"""The benchmark of npbench: its data sets, its experiments and its ranking."""

from npbench import hookimpl


@hookimpl
def npbench_config_packages() -> list[str]:
    """Return the package with the configuration of the experiments."""
    return ["npbench_benchmark.conf"]
