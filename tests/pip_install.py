"""Installs packages into a folder as ``pip install -e`` would, without building them or asking an index.

``python pip_install.py SITE [-e] FOLDER[EXTRA] ...``: metadata from each pyproject.toml, and a link to each plugin.
"""

import sys
import tomllib
from pathlib import Path


def install(site: Path, folder: Path) -> None:
    """Make the package that lies in ``folder`` importable from ``site``, with its entry points."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"]["npbench"]
    (metadata / "entry_points.txt").write_text("[npbench]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()))
    for package in points.values():
        source = folder / package if (folder / package).is_dir() else folder / f"{package}.py"
        (site / source.name).symlink_to(source.absolute(), target_is_directory=source.is_dir())


if __name__ == "__main__":
    for argument in sys.argv[2:]:
        if argument != "-e":
            install(Path(sys.argv[1]), Path(argument.partition("[")[0]))
