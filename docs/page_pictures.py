"""Screenshots of the report page for published records: `python docs/page_pictures.py`."""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

from figures import IMAGES, ROOT, digest, of_experiment
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

from npbench.report import files
from npbench.report.assemble import assemble
from npbench.report.select.collect import collect

EXPERIMENT = "gasso_figure4"
SIZE = (1280, 860)
# Script to run on the page before each screenshot.
SCRIPTS = {
    "report_figures": "document.querySelector('[data-name^=rates]').scrollIntoView();",
    "report_records": """
        const filter = document.querySelector("[aria-label='Filter of dataset']");
        filter.value = "pima";
        filter.dispatchEvent(new Event("input"));
        [...document.querySelectorAll("#table th button")].find((head) => head.textContent === "p_nd").click();
        document.getElementById("records").scrollIntoView();
    """,
}
# Half a second after the last filter, with all figures in view drawn.
READY = """
    window.firstCall ??= performance.now();
    if (performance.now() < window.firstCall + 500) return false;
    const drawings = [...document.querySelectorAll(".drawing")].filter((drawing) => {
        const { top, bottom } = drawing.getBoundingClientRect();
        return bottom > 0 && top < innerHeight;
    });
    return drawings.every((drawing) => drawing.querySelector("svg"));
"""


def write(folder: Path) -> Path:
    """Write the report of the published records of the experiment, and return its page."""
    records = ROOT / "results" / "published" / "gasso" / "records" / f"{EXPERIMENT}.parquet"
    collection = collect([records], {})
    files.write(folder, assemble(collection), collection, lambda step: None)
    return folder / files.PAGE


def screenshot(path: Path, script: str) -> bytes:
    """Return a screenshot of the page as PNG after a script has run."""
    options = webdriver.ChromeOptions()
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-background-networking"):
        options.add_argument(f"--{flag}")
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        metrics = {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(path.as_uri())
        wait = WebDriverWait(driver, 60)
        wait.until(lambda _: driver.execute_script("return document.querySelector('#table tbody tr') !== null"))
        driver.execute_script(script)
        wait.until(lambda _: driver.execute_script(READY))
        return driver.get_screenshot_as_png()
    finally:
        driver.quit()


if __name__ == "__main__":
    about = PngInfo()
    about.add_text("Description", digest(of_experiment(EXPERIMENT)))
    with tempfile.TemporaryDirectory() as folder:
        report = write(Path(folder))
        for name, script in SCRIPTS.items():
            picture = Image.open(io.BytesIO(screenshot(report, script)))
            picture.quantize(128).save(IMAGES / f"{name}.png", optimize=True, pnginfo=about)
