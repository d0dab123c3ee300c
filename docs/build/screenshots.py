"""Screenshots of the report page for published records: `python docs/build/screenshots.py` (needs Chromium)."""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from pathlib import Path

from blocks import PUBLISHED
from pictures import IMAGES, digest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from selenium import webdriver

from npbench.report import files
from npbench.report.assemble import assemble
from npbench.report.select.collect import collect

EXPERIMENT = "gasso_figure4"
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


def screenshots(report: Path) -> dict[str, bytes]:
    """Return screenshots of the page as PNG, each after its script has run."""
    options = webdriver.ChromeOptions()
    for flag in ("headless", "no-sandbox", "disable-gpu", "window-size=1280,860"):
        options.add_argument(f"--{flag}")
    with webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver"))) as driver:
        taken = {}
        for name, script in SCRIPTS.items():
            driver.get(report.as_uri())
            driver.execute_script(script)
            time.sleep(1)  # filters wait until typing has stopped
            taken[name] = driver.get_screenshot_as_png()
        return taken


if __name__ == "__main__":
    about = PngInfo()
    about.add_text("Description", digest(EXPERIMENT))
    with tempfile.TemporaryDirectory() as folder:
        collection = collect([PUBLISHED / "gasso" / "records" / f"{EXPERIMENT}.parquet"], {})
        files.write(Path(folder), assemble(collection), collection, lambda step: None)
        for name, picture in screenshots(Path(folder, files.PAGE)).items():
            image = Image.open(io.BytesIO(picture)).quantize(128)
            image.save(IMAGES / f"{name}.png", optimize=True, pnginfo=about)
