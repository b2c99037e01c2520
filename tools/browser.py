"""The Chromium of this machine: where it is, and how it is started so that it does nothing on its own."""

import os
import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = "no Chromium on this machine: install one, or name it in PAVLOV_BROWSER"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def browser_path() -> str | None:
    """The program that ``PAVLOV_BROWSER`` names, or one that is found by itself."""
    return os.environ.get("PAVLOV_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
