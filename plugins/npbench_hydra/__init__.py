"""Runs that Hydra launches: launchers and sweepers, such as ``hydra/launcher=joblib``, and settings under ``hydra``."""

from npbench import hookimpl


@hookimpl
def npbench_launchers() -> dict[str, str]:
    """Return what carries out runs with settings of Hydra."""
    return {"hydra": "npbench_hydra.launch:HydraLaunch"}
