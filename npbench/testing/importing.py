"""Cost of importing a plugin, measured in a fresh process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from npbench import registry
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


def require_light(kind: str, name: str) -> None:
    """Check the imports and the time of describing a plugin in a fresh process."""
    module = registry.installed().providers[kind, name].module.partition(":")[0]
    child = subprocess.run(
        [sys.executable, "-c", _CODE, module, ",".join(NUMERICS)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    require(
        child.returncode == 0,
        f"Importing {module} in a fresh process failed: {(child.stderr.strip().splitlines() or ['?'])[-1]}. Everything "
        "that it needs must be installed and importable.",
    )
    seconds, heavy = json.loads(child.stdout.splitlines()[-1])
    require(
        not heavy,
        f"Importing {module} imports {', '.join(heavy)}, which every command would then load: import it in the module "
        'that a description names as "module:attribute".',
    )
    require(
        seconds < CPU_SECONDS,
        f"Importing {module} takes {seconds:.2f} s of every command, expected less than {CPU_SECONDS} s. "
        'Do the work in the module that a description names as "module:attribute".',
    )
