"""Serve the built website and JupyterLab side by side until either ends or somebody asks to stop.

    python tools/serve_all.py                  # http://localhost:8000 and http://localhost:8888, for this machine
    python tools/serve_all.py --host 0.0.0.0   # for everybody who reaches this machine: what a container runs
    python tools/serve_all.py --check          # fail unless both answer

JupyterLab prints the address with its token; the environment variable JUPYTER_TOKEN chooses one.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "_build" / "html"


def commands(host: str, site: int, lab: int, folder: Path) -> dict[str, list[str]]:
    return {
        "website": [sys.executable, "-m", "http.server", str(site), "--bind", host, "--directory", str(folder)],
        "JupyterLab": [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", f"--ip={host}", f"--port={lab}"),
            *("--ServerApp.port_retries=0", f"--ServerApp.root_dir={ROOT}"),
        ],
    }


def serve(host: str, site: int, lab: int, folder: Path) -> int:
    if not (folder / "index.html").is_file():
        raise ValueError(f"expected a built website, with an index.html; got {folder}")
    stopped = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.append(True))
    running = {name: subprocess.Popen(command) for name, command in commands(host, site, lab, folder).items()}
    while not stopped and all(process.poll() is None for process in running.values()):
        time.sleep(0.2)
    ended = [name for name, process in running.items() if process.poll() is not None]
    for process in running.values():
        process.terminate()
    for process in running.values():
        try:
            process.wait(timeout=8)  # a container is killed ten seconds after it was asked to stop
        except subprocess.TimeoutExpired:
            process.kill()
    if stopped:
        return 0
    print(f"{' and '.join(ended)} ended", file=sys.stderr)
    return 1


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=4) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def check(site: int, lab: int) -> int:
    silent = [x for x in (f"http://127.0.0.1:{site}/index.html", f"http://127.0.0.1:{lab}/api") if not answers(x)]
    if silent:
        print(f"no answer from {' and '.join(silent)}", file=sys.stderr)
    return int(bool(silent))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--site", type=int, default=8000, help="the port of the website")
    parser.add_argument("--lab", type=int, default=8888, help="the port of JupyterLab")
    parser.add_argument("--folder", type=Path, default=SITE, help="where the website was built")
    parser.add_argument("--check", action="store_true", help="fail unless both answer")
    asked = parser.parse_args(arguments)
    if asked.check:
        return check(asked.site, asked.lab)
    try:
        return serve(asked.host, asked.site, asked.lab, asked.folder)
    except ValueError as problem:
        parser.error(str(problem))


if __name__ == "__main__":
    sys.exit(main())
