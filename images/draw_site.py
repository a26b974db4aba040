"""Draw site.png, the picture of the site in the README: python images/draw_site.py SITE.

SITE is a folder that `python -m course.build site` wrote. Needs Chromium, and playwright and Pillow
from tests/requirements.txt.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

SIZE = {"width": 1280, "height": 800}


def main():
    page_file = Path(sys.argv[1]).resolve() / "notebooks" / "06_the_decoder.html"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        page.goto(page_file.as_uri())
        view = page.locator('.course-view[data-view="JourneyView"]')
        view.get_by_label("Your sentence").fill("Two dogs are running on the beach.")
        page.keyboard.press("Enter")
        view.get_by_text("Deux chiens").first.wait_for(timeout=60_000)
        view.evaluate(
            "(view) => scrollTo({ top: scrollY + view.getBoundingClientRect().top - 10 })"
        )
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(2000)  # all lines are drawn
        drawn = page.screenshot()
        browser.close()
    picture = Image.open(io.BytesIO(drawn)).convert("RGB")
    picture.quantize(128, dither=Image.Dither.NONE).save(
        Path(__file__).with_name("site.png"), optimize=True
    )


if __name__ == "__main__":
    main()
