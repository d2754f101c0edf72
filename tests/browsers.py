"""Where the machine's Chromium is: the browser tests drive it, nothing is downloaded."""

import os
import shutil

#: The headless shell draws the same pages at half the cost.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
HOW_TO_GET = "no Chromium found: apt-get install chromium-headless-shell (or chromium), or set XCE_CHROMIUM to its path"


def find() -> str | None:
    """Return the path of a Chromium: the one that XCE_CHROMIUM names, else the first of the usual names."""
    given = os.environ.get("XCE_CHROMIUM")
    if given:
        return shutil.which(given)
    return next((path for name in NAMES if (path := shutil.which(name))), None)
