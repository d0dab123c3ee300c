"""Fresh processes, and the cost of importing a plugin, measured in one."""

import json
import os
import subprocess
import sys

from npbench import registry
from npbench.contracts import Dataset, Metric, Solver
from npbench.testing.check import require

NUMERICS = ("numba", "numpy", "pandas", "polars", "scipy", "sklearn", "torch")
CPU_SECONDS = 0.5

_CODE = """
import importlib, json, sys, time
from npbench import registry
start = time.process_time()
plugin = importlib.import_module(sys.argv[1])
registry.Registry().add(plugin, registry.Provider(sys.argv[1], "", ""))
seconds = time.process_time() - start
print(json.dumps([seconds, [name for name in sys.argv[2].split(",") if name in sys.modules]]))
"""


def fresh_process(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new process that can import the modules of this one."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def light(described: Solver | Dataset | Metric) -> None:
    """Importing the plugin loads no numerics and takes little time."""
    # in a fresh process
    module = registry.installed().providers[type(described).__name__.lower(), described.name].module.partition(":")[0]
    child = fresh_process(_CODE, module, ",".join(NUMERICS))
    error = (child.stderr.strip().splitlines() or ["?"])[-1]
    require(child.returncode == 0, f"Importing {module} in a fresh process failed: {error}. Install all that it needs.")
    seconds, heavy = json.loads(child.stdout.splitlines()[-1])
    remedy = 'do that in the module that a description names as "module:attribute".'
    require(not heavy, f"Importing {module} imports {', '.join(heavy)}, which every command would then load: {remedy}")
    shown = f"{seconds:.2f} s of every command, expected less than {CPU_SECONDS} s"
    require(seconds < CPU_SECONDS, f"Importing {module} takes {shown}: {remedy}")
