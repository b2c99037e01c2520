"""The figures of a chapter as files: each with its numbers and a program that gives the same numbers by itself."""

import json
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import figures  # noqa: E402
from figure_code import needed, program  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")  # the kernel's own


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    assert figures.main(["mapping", "--output", str(folder)]) == 0
    return folder


def test_a_chapter_leaves_whole_with_licences_and_a_page(exported):
    about = json.loads((exported / "mapping" / "figures.json").read_text(encoding="utf-8"))
    names = [figure["name"] for figure in about["figures"]]
    assert len(names) == len(set(names)) >= 3
    expected = {f"{name}.{ending}" for name in names for ending in ("svg", "png", "csv", "py")}
    for archive in ("mapping/mapping.zip", "figures.zip"):
        with zipfile.ZipFile(exported / archive) as packed:
            inside = {Path(name).name: packed.read(name) for name in packed.namelist()}
        assert expected | {"LICENSE.txt"} <= set(inside)
        assert b"CC BY 4.0" in inside["LICENSE.txt"] and b"BSD 3-Clause" in inside["LICENSE.txt"]
    page = (exported / "index.html").read_text(encoding="utf-8")
    assert all(f'href="mapping/{file}"' in page for file in expected)
    assert not list(exported.rglob("*.part"))


def test_every_program_gives_the_numbers_beside_it_and_other_numbers_are_noticed(exported):
    folder = exported / "mapping"
    for name in ("circuit", "figure", "gradient"):
        assert figures.differs(folder, name) == ""
    numbers = pd.read_csv(folder / "circuit.csv")
    numbers.loc[0, "x"] += 1e-3
    numbers.to_csv(folder / "circuit.csv", index=False)
    assert "other numbers" in figures.differs(folder, "circuit")


def test_a_chapter_that_did_not_change_is_not_run_again(exported, monkeypatch):
    monkeypatch.setattr(figures, "export", lambda *_: pytest.fail("was run again"))
    assert figures.main(["mapping", "--output", str(exported)]) == 0


def test_an_unknown_chapter_is_a_wrong_call(tmp_path, capsys):
    assert figures.main(["nowhere", "--output", str(tmp_path)]) == 2
    assert "got nowhere" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_a_program_keeps_what_it_depends_on_and_drops_the_rest():
    cells = ["import numpy as np\nrng = np.random.default_rng(0)\na = rng.normal()", "print(a)\nb = []\nunused = 3"]
    kept = [s.source for s in needed(cells, "b.append(rng.normal())\nb")]
    # drawing a moves the generator on, so that b would differ without it
    assert kept == ["import numpy as np", "rng = np.random.default_rng(0)", "a = rng.normal()", "b = []",
                    "b.append(rng.normal())", "b"]  # fmt: skip


def test_a_cell_that_does_not_end_in_its_figure_is_refused():
    with pytest.raises(ValueError, match="must end in the figure"):
        program([], "x = 1", chapter="mapping", name="x", title="x", description="")
