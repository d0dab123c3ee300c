"""Experiments of five papers: settings, tables and figures."""

from npbench import hookimpl


@hookimpl
def npbench_config_packages() -> list[str]:
    """Return the package with the configuration of the experiments."""
    return ["npbench_papers.conf"]
