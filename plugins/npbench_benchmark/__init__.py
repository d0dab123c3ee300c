"""The benchmark of npbench: its data sets, its experiments and its ranking."""

from npbench import hookimpl


@hookimpl
def npbench_commands() -> dict[str, str]:
    """Return the commands of the board."""
    return {word: f"npbench_benchmark.board.{word}" for word in ("splits", "submit", "verify")}
