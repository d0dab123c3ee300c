"""Screenshots of pages for published records: `python docs/build/screenshots.py` (needs Chromium and its driver)."""

import io
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import leaderboard
from blocks import stored
from pictures import IMAGES, digest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from selenium import webdriver

from npbench.report import files
from npbench.report.assemble import assemble
from npbench.report.select.collect import collect

TO_TABLE = "document.querySelector('.explorer').scrollIntoView();"
# For each experiment a name for every picture, with its width and a script to run on the page before.
SHOTS = {
    "gasso_figure4": {
        "report_figures": (1280, "document.querySelector('[data-name^=rates]').scrollIntoView();"),
        "report_records": (
            1280,
            """
            const filter = document.querySelector("[aria-label='Filter of dataset']");
            filter.value = "pima";
            filter.dispatchEvent(new Event("input"));
            [...document.querySelectorAll("#table th button")].find((head) => head.textContent === "p_nd").click();
            document.getElementById("records").scrollIntoView();
            """,
        ),
    },
    leaderboard.EXPERIMENTS[0]: {"leaderboard": (1280, TO_TABLE), "leaderboard_phone": (375, TO_TABLE)},
}


def screenshots(page: Path, shots: Mapping[str, tuple[int, str]]) -> dict[str, bytes]:
    """Return screenshots of a page as PNG, each after its script has run."""
    options = webdriver.ChromeOptions()
    for flag in ("headless", "no-sandbox", "disable-gpu"):
        options.add_argument(f"--{flag}")
    with webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver"))) as driver:
        taken = {}
        for name, (width, script) in shots.items():
            size = {"width": width, "height": 720, "deviceScaleFactor": 1, "mobile": width < 600}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.get(page.as_uri())
            driver.execute_script(script)
            time.sleep(1)  # filters wait until typing has stopped
            taken[name] = driver.get_screenshot_as_png()
        return taken


def write_page(experiment: str, folder: Path) -> Path:
    """Write the page of an experiment, the leaderboard for the benchmark, and return its path."""
    if experiment in leaderboard.EXPERIMENTS:
        leaderboard.write(folder / leaderboard.NAME)
        return folder / leaderboard.NAME
    collection = collect(stored(experiment), {})
    files.write(folder, assemble(collection), collection, lambda step: None)
    return folder / files.PAGE


if __name__ == "__main__":
    for experiment, shots in SHOTS.items():
        about = PngInfo()
        about.add_text("Description", digest(experiment))
        with tempfile.TemporaryDirectory() as folder:
            for name, picture in screenshots(write_page(experiment, Path(folder)), shots).items():
                image = Image.open(io.BytesIO(picture)).quantize(128)
                image.save(IMAGES / f"{name}.png", optimize=True, pnginfo=about)
