"""Tests of the tests: break the library on purpose, and the notebook check must go red.

Each fault is planted in a copy of the library; one notebook that depends on the faulty place is then run by nbval.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]

# fault: (file, old text, new text, notebook that must notice). The old text must stand in the file.
FAULTS = {
    "hebbian with the wrong sign": (
        "rules/hebbian.py",
        "* state + outer(spread",
        "* state - outer(spread",
        "drift.ipynb",
    ),
    "hebbian in chunks with the wrong sign": (
        "rules/hebbian.py",
        "left.mT @ keys",
        "-left.mT @ keys",
        "capacity.ipynb",
    ),
    "hebbian that never decays": ("rules/hebbian.py", "spread(decay, 2) * state", "state", "drift.ipynb"),
    "delta without its error term": (
        "rules/delta.py",
        "error = value - apply(state, key)",
        "error = value",
        "drift.ipynb",
    ),
    "oja without homeostasis": (
        "rules/oja.py",
        "(1 - drive * value)[..., None] * state",
        "state",
        "drift.ipynb",
    ),
    "key and value axes swapped": (
        "rules/base.py",
        "value[..., :, None] * key[..., None, :]",
        "key[..., :, None] * value[..., None, :]",
        "drift.ipynb",
    ),
    "keys 3 % too long": (
        "stimuli.py",
        "x /= np.sqrt(np.vecdot(x, x))[..., None]",
        "x /= np.sqrt(np.vecdot(x, x))[..., None] / 1.03",
        "mapping.ipynb",
    ),
    "another seed": (
        "stimuli.py",
        "SeedSequence(checks.seed(seed))",
        "SeedSequence(checks.seed(seed) + 1)",
        "depth.ipynb",
    ),
    "a prediction with the wrong power": (
        "theory.py",
        "open_low=True) ** 2 - 1",
        "open_low=True) - 1",
        "capacity.ipynb",
    ),
    "a figure that draws another column": (
        "figures/drift.py",
        "curve[show], markevery",
        "curve.norm, markevery",
        "drift.ipynb",
    ),
}


def copy_of_the_book(folder: Path, notebook: str) -> Path:
    """A checkout in ``folder`` with the library, the data and one notebook."""
    shutil.copytree(ROOT / "pavlov_lib", folder / "pavlov_lib", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "book").mkdir()
    shutil.copytree(ROOT / "book" / "data", folder / "book" / "data")
    shutil.copy(ROOT / "book" / notebook, folder / "book")
    return folder / "book" / notebook


def nbval(notebook: Path) -> subprocess.CompletedProcess:
    """Run the same check as ``make test`` on one notebook, with the library beside it."""
    env = os.environ | {"PYTHONPATH": str(notebook.parents[1]), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("PAVLOV_UPDATE_REFERENCE", None)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--nbval", "--nbval-current-env", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, str(notebook)], cwd=notebook.parents[1], env=env, capture_output=True, text=True, check=False
    )


def test_an_unbroken_copy_passes(tmp_path):
    """Without this, every fault below could go red for a reason of the copying."""
    result = nbval(copy_of_the_book(tmp_path, "drift.ipynb"))
    assert result.returncode == 0, result.stdout[-3000:]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_library_turns_the_notebook_check_red(fault, tmp_path):
    file, old, new, notebook = FAULTS[fault]
    copy = copy_of_the_book(tmp_path, notebook)
    broken = tmp_path / "pavlov_lib" / file
    source = broken.read_text(encoding="utf-8")
    assert source.count(old) >= 1, f"{file} no longer holds {old!r}: mend this test"
    broken.write_text(source.replace(old, new, 1), encoding="utf-8")
    result = nbval(copy)
    assert result.returncode == 1, f"{notebook} did not notice: {fault}\n{result.stdout[-2000:]}"


def test_a_changed_output_turns_the_notebook_check_red(tmp_path):
    copy = copy_of_the_book(tmp_path, "drift.ipynb")
    notebook = nbformat.read(copy, as_version=4)
    texts = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs if "agree with" in o.get("text", "")]
    texts[0]["text"] = texts[0]["text"].replace("rows", "lines")
    nbformat.write(notebook, copy)
    assert nbval(copy).returncode == 1


def test_a_changed_reference_turns_the_notebook_check_red(tmp_path):
    copy = copy_of_the_book(tmp_path, "drift.ipynb")
    reference = tmp_path / "book" / "data" / "drift.csv"
    lines = reference.read_text(encoding="utf-8").splitlines()
    fields = lines[7].split(",")
    fields[2] = repr(float(fields[2]) * 1.0001)
    lines[7] = ",".join(fields)
    reference.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = nbval(copy)
    assert result.returncode == 1
    assert "1 of 160 rows differ" in result.stdout
