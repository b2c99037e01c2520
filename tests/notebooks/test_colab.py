"""A notebook opened alone, as on Colab, gets the library by its first code cell, and can check its figures."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "book").glob("*.ipynb"))
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "_ext")]

import set_repository  # noqa: E402
from pavlov_launch import needs_torch, public_address, repository_address  # noqa: E402
from sphinx.errors import ConfigError  # noqa: E402


def read(path: Path):
    return nbformat.read(path, as_version=4)


def run_alone(notebook, folder: Path, python: str, monkeypatch) -> None:
    """Run a notebook in an empty folder, by another Python."""
    spec = folder / "jupyter" / "kernels" / "alone"
    spec.mkdir(parents=True)
    start = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": start, "display_name": "alone", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(folder / "jupyter"))
    (folder / "empty").mkdir()
    where = {"metadata": {"path": str(folder / "empty")}}
    NotebookClient(notebook, timeout=600, kernel_name="alone", resources=where).execute()


# --- the cell --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_first_code_cell_is_the_one_that_installs_and_is_fresh(path):
    notebook = read(path)
    again = set_repository.with_install_cell(read(path), set_repository.known_address())
    assert again == notebook, "run tools/set_repository.py"
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert "remove-cell" in first.metadata["tags"] and not first.outputs


def test_the_cell_goes_after_the_title_and_leaves_everything_else_as_it_is():
    made = nbformat.v4
    cells = [made.new_markdown_cell("# T"), made.new_code_cell("1", execution_count=1), made.new_code_cell("2")]
    notebook = set_repository.with_install_cell(made.new_notebook(cells=cells), "https://github.com/a/b")
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "code", "code", "code"]
    assert 'REPOSITORY = "https://github.com/a/b"' in notebook.cells[1].source
    # a cell that was not run must stay visible as such
    assert [cell.execution_count for cell in notebook.cells[1:]] == [1, 2, None]


def test_an_address_is_written_into_the_settings_and_every_notebook_and_can_be_changed(tmp_path, monkeypatch, capsys):
    (tmp_path / "book").mkdir()
    (tmp_path / "_config.yml").write_text((ROOT / "_config.yml").read_text(encoding="utf-8"), encoding="utf-8")
    drift = tmp_path / "book" / "drift.ipynb"
    drift.write_text((ROOT / "book" / "drift.ipynb").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(set_repository, "ROOT", tmp_path)
    monkeypatch.setattr(set_repository, "CONFIG", tmp_path / "_config.yml")
    for address in ("https://github.com/a/b", "https://github.com/c/d"):
        assert set_repository.main([address]) == 0
        assert set_repository.known_address() == address
        assert f'REPOSITORY = "{address}"' in read(drift).cells[1].source
    assert (tmp_path / "_config.yml").read_text(encoding="utf-8").count("  url:") == 1
    assert set_repository.main(["somewhere"]) == 2
    assert "expected one address like https://github.com/OWNER/NAME; got somewhere" in capsys.readouterr().err


# --- the address -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://github.com/owner/name", "https://github.com/owner/name"),
        ("https://github.com/owner/name.git/", "https://github.com/owner/name"),
        ("https://token@github.com/owner/na.me.git", "https://github.com/owner/na.me"),
        ("git@github.com:owner/name.git", "https://github.com/owner/name"),
        ("ssh://git@github.com/owner/name", "https://github.com/owner/name"),
        ("/srv/git/name.git", ""),
        ("file:///srv/git/name.git", ""),
        ("https://github.com/owner", ""),
        ("https://github.com.example.org/owner/name", ""),
        ("", ""),
    ],
)
def test_only_a_public_address_counts_and_no_password_comes_along(url, address):
    assert public_address(url) == address


def test_the_environment_comes_before_the_settings_and_may_say_none(monkeypatch):
    configured = "https://github.com/owner/configured"
    monkeypatch.setenv("PAVLOV_REPOSITORY", "git@github.com:owner/named.git")
    assert repository_address(configured) == "https://github.com/owner/named"
    monkeypatch.setenv("PAVLOV_REPOSITORY", "")
    assert repository_address(configured) == ""
    monkeypatch.delenv("PAVLOV_REPOSITORY")
    assert repository_address(configured) == configured
    monkeypatch.setenv("PAVLOV_REPOSITORY", "somewhere")
    with pytest.raises(ConfigError, match=r"must be https://github\.com/<owner>/<name>; got 'somewhere'"):
        repository_address(configured)


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("import torch", True),
        ("x = 1\nfrom torch import nn", True),
        ("from pavlov_lib.models import Stack", True),
        ("from pavlov_lib.training import train", True),
        ("from pavlov_lib import RULES  # torch tensors work too", False),
        ("import torchless", False),
    ],
)
def test_a_notebook_that_imports_torch_is_known_as_such(source, needed, tmp_path):
    path = tmp_path / "page.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbformat.write(notebook, path)
    assert needs_torch(path) is needed


# --- alone -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory) -> str:
    """A Python with what Colab has, and without the library."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", "requirements.lock"]
    packages = ["numpy", "pandas", "matplotlib", "ipywidgets", "ipykernel"]
    subprocess.run([*install, *packages], cwd=ROOT, check=True)
    return python


@pytest.mark.skipif(
    os.environ.get("PAVLOV_PLAIN_PIP") != "1", reason="takes a minute; the gate sets PAVLOV_PLAIN_PIP=1"
)
def test_a_notebook_alone_installs_the_library_and_checks_its_figures(bare_python, tmp_path, monkeypatch):
    clone = tmp_path / "book"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    notebook = read(clone / "book" / "drift.ipynb")
    expected = sum("agree with the reference" in str(cell.get("outputs")) for cell in notebook.cells)
    for cell in notebook.cells:
        cell.pop("outputs", None)
        if cell.cell_type == "code":
            cell.outputs = []
    no_address = set_repository.with_install_cell(notebook, "")
    with pytest.raises(CellExecutionError, match=r"run 'pip install \.' in the folder of the book"):
        run_alone(no_address, tmp_path / "refused", bare_python, monkeypatch)
    notebook = set_repository.with_install_cell(notebook, clone.as_uri())
    notebook.cells.append(nbformat.v4.new_code_cell("import pavlov_lib\nprint(pavlov_lib.__file__)"))
    run_alone(notebook, tmp_path / "alone", bare_python, monkeypatch)
    agreed = sum("agree with the reference" in str(cell.get("outputs")) for cell in notebook.cells)
    assert agreed == expected >= 1
    # the numbers came from the installed copy, not from this checkout
    assert "site-packages" in notebook.cells[-1].outputs[0].text
