"""Sweeps from the command line: nothing lost, nothing repeated, nothing written on bad arguments."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import pandas as pd
import pytest

from pavlov_lib import __main__ as cli
from pavlov_lib import sweeps
from pavlov_lib.experiments import run_capacity, run_drift

CAPACITY = ["capacity", "--rules", "hebbian", "delta", "--dims", "8", "16", "--loads", "0.5", "1", "--trials", "5"]
DEPTH = ["depth", "--layers", "1", "2", "--heads", "1", "2", "--dims", "8", "--loads", "2", "--trials", "2"]
DRIFT = ["drift", "--dims", "8", "--angles", "0.01", "--steps", "20", "--trials", "2"]
TRAIN = ["train", "--layers", "1", "2", "--budget", "4000", "--steps", "60", "--batch", "4", "--trials", "2",
         "--sequences", "20"]  # fmt: skip
PNG = b"\x89PNG\r\n\x1a\n"


def sweep(argv, out, *more):
    return cli.main([*argv, "--out", str(out), "--quiet", *more])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def written(path: Path):
    """Which file this is and when it was last written: not equal for a copy, nor for the same bytes written again."""
    return path.stat().st_ino, path.stat().st_mtime_ns


@pytest.fixture
def runs(monkeypatch):
    """The names of the cells that are run, in order."""
    names, run = [], cli._named

    def noted(function, name, cell, out):
        names.append(name)
        return run(function, name, cell, out)

    monkeypatch.setattr(cli, "_named", noted)
    return names


def needs_torch():
    return pytest.importorskip("torch", reason="torch is an extra: training needs it")


# -------------------------------------------------------------------------------------------- what comes out


@pytest.mark.parametrize(
    ("argv", "rows"),
    [(CAPACITY, 8), (DEPTH, 12), (DRIFT, 80), (TRAIN, 4)],
    ids=lambda x: x[0] if isinstance(x, list) else None,
)
def test_every_command_leaves_a_table_and_a_picture(tmp_path, capsys, argv, rows):
    if argv is TRAIN:
        needs_torch()
    assert sweep(argv, tmp_path / "new" / "folder") == 0
    out, name = tmp_path / "new" / "folder", argv[0]
    table = pd.read_csv(out / f"{name}.csv")
    assert len(table) == rows and not table.isna().any().any()
    assert (out / f"{name}.png").read_bytes().startswith(PNG)
    settings = json.loads((out / f"{name}.json").read_text())
    assert settings["command"] == name and len(settings["cells"]) == len(list((out / "cells").iterdir()))
    said = capsys.readouterr()
    assert said.out == f"{len(settings['cells'])} cells, {rows} rows: {out / name}.csv, {out / name}.png\n"
    assert said.err == ""
    assert not list(out.rglob("*.part"))


def test_the_numbers_are_those_of_the_experiment(tmp_path):
    sweep(CAPACITY, tmp_path)
    table = pd.read_csv(tmp_path / "capacity.csv")
    cells = json.loads((tmp_path / "capacity.json").read_text())["cells"]
    first = next(iter(cells.values()))
    assert (first["rule"], first["dims"], first["loads"]) == ("hebbian", [8], [0.5])
    direct = run_capacity([8], [0.5], 5, seed=sweeps.seed_of(first))
    pd.testing.assert_frame_equal(table.iloc[:1, 1:], direct, rtol=1e-12)  # decimal text of 16 or 17 digits
    # predictions do not depend on a seed at all
    every = run_capacity([8, 16], [0.5, 1], 5)
    assert (table.predicted_error[:4] - every.predicted_error).abs().max() < 1e-12


def test_rules_are_compared_on_the_same_stimuli_and_cells_differ(tmp_path):
    sweep(DRIFT, tmp_path)
    table = pd.read_csv(tmp_path / "drift.csv")
    seed = sweeps.seed_of(next(iter(json.loads((tmp_path / "drift.json").read_text())["cells"].values())))
    together = run_drift(steps=20, key_dim=8, angle=0.01, trials=2, seed=seed)
    pd.testing.assert_frame_equal(table.iloc[:, 2:], together, rtol=1e-12)
    a, b = ({"command": "capacity", "dims": [d]} for d in (8, 16))
    assert sweeps.seed_of(a) != sweeps.seed_of(b)
    assert sweeps.seed_of(a) == sweeps.seed_of(
        {**a, "rule": "delta", "device": "cuda", "dtype": "float32", "generator": "torch"}
    )


def test_trained_stacks_are_those_of_run_stacks(tmp_path):
    needs_torch()
    from pavlov_lib.training import MultiHop, run_stacks

    sweep(TRAIN, tmp_path)
    table = pd.read_csv(tmp_path / "train.csv")
    # the command looks at held-out sequences on its way, which changes nothing that is learned
    direct = run_stacks([1, 2], task=MultiHop(), budget=4000, trials=2, steps=60, batch=4, sequences=20)
    pd.testing.assert_frame_equal(table, direct, rtol=1e-12)


def test_the_seed_of_the_command_changes_all_cells(tmp_path):
    sweep(CAPACITY, tmp_path / "a")
    sweep(CAPACITY, tmp_path / "b", "--seed", "1")
    a, b = (pd.read_csv(tmp_path / x / "capacity.csv") for x in "ab")
    assert (a.fidelity != b.fidelity).all()


def test_a_progress_bar_counts_the_cells(tmp_path, capsys):
    cli.main([*CAPACITY, "--out", str(tmp_path)])
    assert "capacity: 100%" in capsys.readouterr().err


# --------------------------------------------------------------------------------- nothing lost, nothing repeated


def test_a_finished_sweep_runs_nothing_and_changes_nothing(tmp_path, runs):
    sweep(CAPACITY, tmp_path)
    assert len(runs) == len(set(runs)) == 8
    before = contents(tmp_path)
    sweep(CAPACITY, tmp_path)
    assert len(runs) == 8 and contents(tmp_path) == before


def test_a_wider_sweep_runs_only_what_is_new(tmp_path, runs):
    sweep(["capacity", "--dims", "8", "--loads", "1", "--trials", "5"], tmp_path)
    sweep(["capacity", "--dims", "8", "16", "8", "--loads", "1", "--trials", "5"], tmp_path)
    assert len(runs) == len(set(runs)) == 2
    assert pd.read_csv(tmp_path / "capacity.csv").d_k.tolist() == [8, 16]


def test_other_settings_never_meet_in_one_table(tmp_path, runs):
    sweep(CAPACITY, tmp_path)
    sweep(CAPACITY, tmp_path, "--rate", "0.5")
    assert len(set(runs)) == 16
    assert len(pd.read_csv(tmp_path / "capacity.csv")) == 8


def test_cells_of_another_version_of_the_library_are_not_taken_over(tmp_path, runs, monkeypatch):
    sweep(CAPACITY, tmp_path)
    monkeypatch.setattr(sweeps, "__version__", "99")
    sweep(CAPACITY, tmp_path)
    assert len(set(runs)) == 16


def test_two_processes_give_the_bytes_of_one(tmp_path):
    sweep(CAPACITY, tmp_path / "one")
    sweep(CAPACITY, tmp_path / "two", "--jobs", "2", "--backend", "loky")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill without warning")
def test_a_killed_sweep_goes_on_with_nothing_lost_or_repeated(tmp_path, runs):
    argv = ["capacity", "--dims", *map(str, range(16, 48)), "--loads", "4", "--trials", "300"]
    out, whole = tmp_path / "killed", tmp_path / "whole"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen([sys.executable, "-m", "pavlov_lib", *argv, "--out", str(out), "--quiet"], env=env)
    try:
        deadline = time.monotonic() + 120
        while len(list(out.glob("cells/*.csv"))) < 3 and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
    finally:
        child.kill()
    assert child.wait() == -signal.SIGKILL
    finished = {path.stem: written(path) for path in out.glob("cells/*.csv")}
    assert 3 <= len(finished) < 32 and not (out / "capacity.csv").exists()
    (out / "cells" / "capacity-half.csv.part").write_text("d_k,n,fid")  # as a kill in the middle of writing leaves it

    assert sweep(argv, out) == 0
    assert not finished.keys() & set(runs) and len(runs) == 32 - len(finished)
    assert all(written(out / "cells" / f"{name}.csv") == was for name, was in finished.items())
    assert sweep(argv, whole) == 0
    assert contents(out) == contents(whole)


def test_a_training_stopped_in_the_middle_of_a_cell_goes_on_inside_it(tmp_path, monkeypatch, capsys):
    needs_torch()
    from pavlov_lib.training.loop import _Run

    advance, steps = _Run.advance, []

    def stop_at_55(self):
        steps.append(self.step)
        if len(steps) == 55:
            raise KeyboardInterrupt
        advance(self)

    one = ["train", "--layers", "1", "--budget", "4000", "--steps", "60", "--batch", "4", "--sequences", "20",
           "--trials", "2"]  # fmt: skip
    monkeypatch.setattr(_Run, "advance", stop_at_55)
    assert sweep(one, tmp_path / "stopped") == 130
    assert capsys.readouterr().err == "stopped; the same command goes on from here\n"
    assert sweep(one, tmp_path / "stopped") == 0
    assert steps == [*range(55), *range(50, 60), *range(60)]  # the last checkpoint was that of step 50
    sweep(one, tmp_path / "whole")
    stopped, whole = (contents(tmp_path / x) for x in ("stopped", "whole"))
    same = [name for name in whole if not name.endswith(".pt")]  # a checkpoint is a zip with its own bookkeeping
    assert all(stopped[name] == whole[name] for name in same) and stopped.keys() == whole.keys()


def test_a_cell_that_fails_is_an_exit_code_of_one_and_costs_no_other_cell(tmp_path, capsys, monkeypatch):
    def fails_at_16(cell, out):
        if cell["dims"] == [16]:
            raise FloatingPointError("outgrew float64")
        return sweeps.capacity_cell(cell, out)

    whole = sweeps.SWEEPS["capacity"]
    monkeypatch.setitem(sweeps.SWEEPS, "capacity", sweeps.Sweep(whole.cells, fails_at_16, whole.join, whole.draw))
    assert sweep(CAPACITY, tmp_path) == 1
    assert capsys.readouterr().err == "python -m pavlov_lib capacity: outgrew float64\n"
    assert len(list((tmp_path / "cells").iterdir())) == 2  # those of d_k = 8 that came first
    monkeypatch.undo()
    assert sweep(CAPACITY, tmp_path) == 0


# ---------------------------------------------------------------------------------------------- other engines


def test_the_engine_of_the_caller_is_used(tmp_path):
    sweep(CAPACITY, tmp_path / "alone")
    with joblib.parallel_config("threading", n_jobs=2):
        assert sweep(CAPACITY, tmp_path / "engine") == 0
    assert contents(tmp_path / "alone") == contents(tmp_path / "engine")


def test_a_dask_cluster_gives_the_same_bytes(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    sweep(CAPACITY, tmp_path / "alone")
    local = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.Client(**local), joblib.parallel_config("dask"):
        assert sweep(CAPACITY, tmp_path / "dask") == 0
    assert contents(tmp_path / "alone") == contents(tmp_path / "dask")


def test_the_dask_flag_starts_a_cluster_of_its_own(tmp_path):
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    sweep(DEPTH, tmp_path / "alone")
    argv = [*DEPTH, "--out", str(tmp_path / "dask"), "--quiet", "--backend", "dask", "--jobs", "1"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # a process of its own: dask's warnings about the machine's ports are not ours
    done = subprocess.run([sys.executable, "-m", "pavlov_lib", *argv], env=env, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "alone") == contents(tmp_path / "dask")


# -------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "capacity|depth|drift|train"),
        (["hopfield"], "invalid choice: 'hopfield'"),
        (["capacity", "--dims", "0"], "--dims: must be a whole number of at least 1; got '0'"),
        (["capacity", "--dims", "8.5"], "got '8.5'"),
        (["capacity", "--loads", "-1"], "each of loads must be a number"),
        (["capacity", "--loads", "nan"], "each of loads"),
        (["capacity", "--rate", "-1"], "rate must be"),
        (["capacity", "--overlap", "1"], "overlap must be below 1"),
        (["capacity", "--trials", "0"], "--trials"),
        (["capacity", "--rules", "hopfield"], "invalid choice: 'hopfield'"),
        (["capacity", "--jobs", "0"], "--jobs"),
        (["capacity", "--device", "abacus"], "device must be"),
        (["capacity", "--seed", "-1"], "--seed"),
        (["capacity", "--address", "tcp://here"], "address needs --backend dask or ray"),
        (["depth", "--dims", "2"], "d_v must be a whole number of at least 3; got 2"),
        (["depth", "--readouts", "best"], "invalid choice: 'best'"),
        (["drift", "--decay", "1"], "decay must be below 1"),
        (["drift", "--steps", "5", "--reversal", "6"], "reversal must be a step from 2 to 5; got 6"),
        (["drift", "--angles", "inf"], "angle must be"),
        (["drift", "--steps"], "--steps: expected one argument"),
        (["train", "--rules", "hopfield"], "each of rules must be one of"),
        (["train", "--budget", "10"], "budget must pay for one head"),
        (["train", "--symbols", "3"], "symbols must be at least"),
        (["train", "--stale", "99"], "stale must be"),
        (["train", "--learning-rate", "0"], "learning_rate must be"),
        (["train", "--target", "2"], "target must be"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else None,
)
def test_bad_arguments_are_one_line_exit_code_two_and_no_file(tmp_path, capsys, argv, said):
    if argv[:1] == ["train"] or "--device" in argv:
        needs_torch()
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as end:
        cli.main([*argv, "--out", str(out)] if argv else argv)
    assert end.value.code == 2
    message = capsys.readouterr().err
    assert said in message and message.count("\n") == 1 and message.startswith("python -m pavlov_lib")
    assert not out.exists()


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("mine")
    for out in (file, file / "below"):
        with pytest.raises(SystemExit) as end:
            sweep(CAPACITY, out)
        assert end.value.code == 2
        assert "out must be a folder that can be written to" in capsys.readouterr().err
    assert file.read_text() == "mine"


def test_a_backend_that_is_not_installed_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SystemExit) as end:
        sweep(CAPACITY, tmp_path / "out", "--backend", "ray")
    assert end.value.code == 2 and not (tmp_path / "out").exists()
    assert "backend ray needs ray, which is not installed" in capsys.readouterr().err


def test_help_is_there_for_every_command(capsys):
    for command in sweeps.SWEEPS:
        with pytest.raises(SystemExit) as end:
            cli.main([command, "--help"])
        assert end.value.code == 0 and "--out FOLDER" in capsys.readouterr().out


def test_python_finds_the_command(tmp_path):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pavlov_lib", "capacity", "--dims", "x", "--out", str(tmp_path)],
        env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1


def test_the_commands_that_the_book_shows_are_understood():
    needs_torch()
    page = (Path(__file__).parents[2] / "book" / "api.md").read_text(encoding="utf-8")
    shown = [line.split()[3:] for line in page.splitlines() if line.startswith("python -m pavlov_lib ")]
    assert {words[0] for words in shown} == set(sweeps.SWEEPS)
    for words in shown:
        args = cli.make_parser().parse_args(words)
        args.device = None  # "auto" is what this machine has
        assert sweeps.SWEEPS[args.command].cells(args)
