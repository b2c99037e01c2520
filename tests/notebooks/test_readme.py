"""What the README shows works as shown."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_recall_example_prints_what_its_comments_say():
    code = re.search(r"```python\n(.+?)```", README, flags=re.S)[1]
    said = [line.split("#")[1].strip() for line in code.splitlines() if line.startswith("print")]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue().splitlines() == said


def test_every_file_that_the_readme_links_to_exists():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_make_target_of_the_readme_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", README, flags=re.M)) <= targets


def plain_pip_lines() -> list[str]:
    block = re.search(r"<!-- plain-pip.*?```sh\n(.+?)```", README, flags=re.S)[1]
    return block.strip().splitlines()


@pytest.mark.skipif(os.environ.get("PAVLOV_PLAIN_PIP") != "1", reason="takes minutes; the gate sets PAVLOV_PLAIN_PIP=1")
def test_the_plain_pip_route_works_in_a_clean_environment(tmp_path):
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tmp_path / "book")], check=True)
    make, install, build, lab = plain_pip_lines()
    for line in (make.replace("python", sys.executable, 1), install, build, lab + " --version"):
        done = subprocess.run(line, shell=True, cwd=tmp_path / "book", capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert (tmp_path / "book" / "_build" / "html" / "book" / "intro.html").exists()
