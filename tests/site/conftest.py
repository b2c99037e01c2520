"""One built site and one browser for all tests of the website.

``PAVLOV_SITE`` names a site that is already built; otherwise it is built once, into a temporary folder.
Without a browser the tests that need one are skipped, unless ``PAVLOV_REQUIRE_BROWSER=1`` makes that a failure.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import browser as chromium  # noqa: E402


@pytest.fixture(scope="session")
def site() -> Iterator[Path]:
    """The folder with the built pages."""
    if given := os.environ.get("PAVLOV_SITE"):
        built = (ROOT / given).resolve()
        if not (built / "index.html").is_file():
            pytest.fail(f"PAVLOV_SITE must name a built site with an index.html; got {built}")
        yield built
        return
    with tempfile.TemporaryDirectory() as out:
        yield built_into(Path(out))


def built_into(out: Path) -> Path:
    """Build the site into a folder; a warning is an error."""
    command = [sys.executable, "-m", "jupyter_book.cli.main", "build", ".", "-W", "--keep-going", "--all"]
    done = subprocess.run(
        [*command, "--path-output", str(out)], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, f"the site must build without a warning:\n{done.stdout[-3000:]}"
    return out / "_build" / "html"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that writes no log; a browser that hangs up is no error."""

    def log_message(self, *args):
        pass

    def copyfile(self, source, outputfile):
        try:
            shutil.copyfileobj(source, outputfile)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (BrokenPipeError, ConnectionResetError)):
            super().handle_error(request, client_address)


@pytest.fixture(scope="session")
def address(site):
    """Where the site is served on this machine."""
    server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def browser_path() -> str:
    """A Chromium that is already on this machine."""
    path = chromium.browser_path()
    if not path:
        missing = pytest.fail if os.environ.get("PAVLOV_REQUIRE_BROWSER") == "1" else pytest.skip
        missing(chromium.MISSING)
    return path


@pytest.fixture(scope="session")
def browser_flags() -> list[str]:
    """A browser that does nothing on its own."""
    return chromium.FLAGS


@pytest.fixture(scope="session")
def browser(browser_path):
    """The browser, running."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser_path, args=chromium.FLAGS)
        yield running
        running.close()
