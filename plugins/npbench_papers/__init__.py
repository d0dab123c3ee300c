"""Experiments of five papers: their settings, tables and figures."""

from npbench import hookimpl


@hookimpl
def npbench_config_packages() -> list[str]:
    """Return the package with the experiments' configuration."""
    return ["npbench_papers.conf"]
