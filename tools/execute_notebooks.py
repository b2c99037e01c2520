"""Run the book's notebooks in place, refresh the reference data, and note how long each took.

    python tools/execute_notebooks.py                 every notebook of the book
    python tools/execute_notebooks.py book/oja.ipynb  only these

A notebook is written whole, and only after its last cell ran; an interrupted run leaves the others as they were.
"""

import json
import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tqdm.auto import tqdm

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from set_repository import known_address, with_install_cell  # noqa: E402

from pavlov_lib.reference import UPDATE, write_whole  # noqa: E402

RUN_TIMES = ROOT / "book" / "data" / "run_times.json"
KEPT = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def execute(path: Path) -> float:
    """Run one notebook, write it back, return the seconds it took."""
    notebook = with_install_cell(nbformat.read(path, as_version=4), known_address())
    client = NotebookClient(
        notebook, timeout=600, kernel_name="python3", record_timing=False, store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    )  # fmt: skip
    start = time.perf_counter()
    client.execute()
    seconds = time.perf_counter() - start
    notebook.metadata = nbformat.from_dict(KEPT)  # the version of this machine's Python is no part of the book
    for i, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{i:03d}"  # stable ids keep a re-run's difference to what changed
        for output in cell.get("outputs", []):  # a view of a kernel that is gone: the explorer's HTML beside it stays
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    write_whole(path, nbformat.writes(notebook) + "\n")
    return seconds


def main(names: list[str]) -> int:
    paths = [Path(name).resolve() for name in names] or sorted((ROOT / "book").glob("*.ipynb"))
    missing = [str(path) for path in paths if path.suffix != ".ipynb" or not path.is_file()]
    if missing:
        print(f"expected paths of notebooks; got {', '.join(missing)}", file=sys.stderr)
        return 2
    os.environ[UPDATE] = "1"
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    for path in (bar := tqdm(paths, unit="notebook")):
        bar.set_postfix_str(path.stem)
        seconds = execute(path)
        times = json.loads(RUN_TIMES.read_text(encoding="utf-8")) if RUN_TIMES.exists() else {}
        times[path.stem] = round(seconds, 1)
        write_whole(RUN_TIMES, json.dumps(times, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
