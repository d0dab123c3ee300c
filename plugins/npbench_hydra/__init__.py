"""Runs that Hydra launches: its launchers and sweepers, as ``hydra/launcher=joblib``, and settings under ``hydra``."""

from npbench import hookimpl


@hookimpl
def npbench_launchers() -> dict[str, str]:
    """Return what carries out runs with settings of Hydra."""
    return {"hydra": "npbench_hydra.launch:HydraLaunch"}
