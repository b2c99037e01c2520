"""Lighthouse's audits of accessibility and best practices: full marks on every kind of page.

Lighthouse is a program for Node. It is fetched once, at the version below; without Node or a package registry
these tests are skipped with the reason, for axe has looked at every page already.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIGHTHOUSE = "lighthouse@12.8.2"
# The start, a chapter with an explorer and figures, mathematics, a page in another language
PAGES = ["book/intro.html", "book/capacity.html", "book/proofs.html", "de/story.html"]


@pytest.fixture(scope="module")
def lighthouse(browser_path, browser_flags):
    """Lighthouse on this machine: a function from a web address to its report."""
    if not (npm := shutil.which("npm")) or not (node := shutil.which("node")):
        pytest.skip("Lighthouse needs Node: install nodejs and npm to run it")
    folder = ROOT / ".cache" / LIGHTHOUSE.replace("@", "-")
    program = folder / "node_modules" / "lighthouse" / "cli" / "index.js"
    if not program.is_file():
        command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--silent", LIGHTHOUSE]
        if subprocess.run(command, check=False).returncode:
            shutil.rmtree(folder, ignore_errors=True)
            pytest.skip(f"{LIGHTHOUSE} could not be fetched")

    def report(address: str) -> dict:
        command = [
            node, str(program), address, "--quiet", "--only-categories=accessibility,best-practices", "--output=json",
            f"--chrome-flags={' '.join(browser_flags)}",
        ]  # fmt: skip
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=240,
            env={**os.environ, "CHROME_PATH": browser_path},
        )  # fmt: skip
        return json.loads(done.stdout)

    return report


@pytest.mark.parametrize("page", PAGES)
def test_a_page_gets_full_marks(page, lighthouse, address):
    report = lighthouse(address + page)
    assert report["finalDisplayedUrl"].endswith(page) and "runtimeError" not in report
    for category in report["categories"].values():
        failed = [
            ref["id"] for ref in category["auditRefs"] if ref["weight"] and report["audits"][ref["id"]]["score"] == 0
        ]
        assert category["score"] == 1, f"{category['title']}: {failed}"


def test_a_page_with_a_picture_that_nobody_described_does_not(lighthouse, address, site):
    broken = site / "undescribed.html"
    broken.write_text("<!doctype html><html><head><title>x</title></head><body><img src='x.png'></body></html>")
    try:
        report = lighthouse(address + broken.name)
    finally:
        broken.unlink()
    assert report["categories"]["accessibility"]["score"] < 1
