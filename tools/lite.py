"""Build the part of the site in which the notebooks run in the reader's browser, with nothing installed.

    python tools/lite.py fetch    only fetch the runtime, 40 MB, once (by way of a package archive 77 MB)
    python tools/lite.py          fetch what is missing, then build _build/html/lite (--output for another folder)

Nothing that a reader opens there asks another host for anything.

Exit codes: 0 built, 2 wrong call, 3 no source gave the runtime (and nothing was built).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lite_runtime
from lite_pages import for_the_browser, notebooks
from lite_runtime import LITE, ROOT, NoSource, fetch, hosted, pip, pyodide_lock, runtime_sums, sha256, wheels
from set_repository import known_address

sys.path.insert(0, str(ROOT / "book" / "_ext"))

from pavlov_launch import repository_address
from pavlov_site import pages_address

OUTPUT = ROOT / "_build" / "html" / "lite"
EXTENSIONS = ("@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager")


def library_wheel(folder: Path) -> Path:
    """The library as a wheel, named after its content: a browser must not take an older one from its cache."""
    # with the build tool at hand no network is needed
    here = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    pip("wheel", "--no-deps", *here, "--wheel-dir", str(folder), str(ROOT))
    built = next(folder.glob("pavlov_lib-*.whl"))
    name, version, rest = built.name.split("-", 2)
    return built.rename(folder / f"{name}-{version}-0{sha256(built.read_bytes())[:12]}-{rest}")


def extensions() -> list[Path]:
    """JupyterLab extensions to ship. Others that this environment holds may ask for a newer JupyterLab."""
    folders = [Path(sys.prefix) / "share" / "jupyter" / "labextensions" / name for name in EXTENSIONS]
    missing = [folder.name for folder in folders if not folder.is_dir()]
    if missing:
        raise RuntimeError(f"the environment must hold the JupyterLab extensions {EXTENSIONS}; {missing} are missing")
    return folders


def build(output: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        source, contents = Path(scratch) / "lite", Path(scratch) / "contents"
        source.mkdir()
        for settings in ("jupyter-lite.json", "overrides.json"):
            shutil.copy(LITE / settings, source)
        (contents / "book").mkdir(parents=True)
        base = pages_address(repository_address(known_address()))
        for notebook in notebooks():
            (contents / "book" / notebook.name).write_text(for_the_browser(notebook, base), encoding="utf-8")
        stage_runtime(source / "static" / "pyodide")
        command = [
            sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", source, "--contents", contents,
            "--output-dir", Path(scratch) / "site", "--no-sourcemaps", "--apps", "lab", "--ignore-sys-prefix",
            *(f"--LiteBuildConfig.federated_extensions={folder}" for folder in extensions()),
        ]  # fmt: skip
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"jupyter lite build failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        replace_folder(Path(scratch) / "site", output)


def replace_folder(new: Path, old: Path) -> None:
    """Put a folder in the place of another one, whole."""
    part = old.with_name(old.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(new, part)
    shutil.rmtree(old, ignore_errors=True)
    part.rename(old)


def stage_runtime(folder: Path) -> None:
    folder.mkdir(parents=True)
    own = [*wheels(), library_wheel(folder)]
    entries = hosted(own)
    for path in own[:-1]:
        shutil.copy(path, folder)
    for name in runtime_sums():
        shutil.copy(lite_runtime.CACHE / "pyodide" / name, folder)
    lock = pyodide_lock() | {"packages": entries}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", nargs="?", choices=["fetch"], help="only fetch the runtime")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder for the built pages")
    asked = parser.parse_args(arguments)
    try:
        fetch()
    except NoSource as problem:
        print(f"{problem}\nThe rest of the book does without.", file=sys.stderr)
        return 3
    if asked.step != "fetch":
        build(asked.output.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
