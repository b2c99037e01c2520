"""The benchmark times what it says it times, takes turns, and keeps whole files."""

import json

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="torch is an extra")
import peers  # noqa: E402, F401  (finds the folder of benchmarks)

from benchmarks import __main__ as command  # noqa: E402
from benchmarks import contestants, measures, report, timing  # noqa: E402


def test_contestants_take_turns_and_the_first_round_is_thrown_away():
    calls = []
    field = [
        timing.Contestant("r", name, lambda name=name: calls.append(name), lambda name=name: calls.append(name + "+"))
        for name in "ab"
    ]
    timing.interleave(field, rounds=4, budget=60)
    assert calls == ["a", "a+", "b", "b+"] * 5
    assert all(len(times) == 4 for c in field for times in c.seconds.values())


def test_a_slow_contestant_leaves_after_its_budget_but_not_before_three_rounds():
    calls = []
    slow = timing.Contestant("r", "slow", lambda: None, lambda: calls.append(sum(range(10_000))))
    timing.interleave([slow], rounds=9, budget=0.0)
    assert len(slow.seconds["both"]) == 3 and len(calls) == 4


def test_the_median_is_that_of_the_rounds():
    c = timing.Contestant("r", "c", None, None, {"forward": [3.0, 1.0, 2.0], "both": [5.0, 4.0]})
    assert c.median("forward") == 2.0 and c.median("both") == 4.5


def test_every_contestant_computes_the_circuit_it_is_compared_with():
    field = contestants.field((1, 2, 64, 8))  # raises where one does not
    names = {(c.rule, c.name) for c in field}
    for rule in contestants.RATES:
        for name in ("this library, chunks", "this library, loop", "a beginner's loop"):
            assert (rule, name) in names


def test_a_contestant_that_computes_something_else_is_not_timed():
    given = contestants.stimuli((1, 2, 64, 8))
    with pytest.raises(RuntimeError, match=r"cheat does not compute the delta circuit: it is off by"):
        contestants._add([], "delta", given, torch.ones(1, 2, 64, 8), "cheat", lambda k, v, q: (v,))


def test_the_slope_of_a_square_law_is_two():
    growth = pd.DataFrame({"rule": "r", "contestant": "c", "steps": [10, 100, 1000], "both_ms": [3e0, 3e2, 3e4]})
    assert measures.slopes(growth).iloc[0] == pytest.approx(2.0)


def test_the_memory_of_a_loop_grows_with_its_states_and_that_of_chunks_does_not():
    table = measures.memory((1, 2, 256, 16)).set_index(["rule", "contestant"])["inputs_alive"]
    for rule in ("hebbian", "delta", "oja"):
        # each step of the loop keeps a state of 16 rows, so 16 times the input and more
        assert table[rule, "this library, loop"] > 16 > 0.4 * table[rule, "this library, chunks"] > 1


def test_aims_are_judged_by_the_time_a_contestant_takes_over_that_of_the_chunks():
    table = pd.DataFrame(
        [
            ("hebbian", "this library, chunks", 1.0, 2.0),
            ("hebbian", "this library, loop", 10.0, 80.0),
            ("softmax", "torch, softmax attention", 5.0, 10.0),
            ("oja", "this library, chunks", 1.0, 1.0),
            ("oja", "this library, chunks, one-hot values", 2.0, 3.0),
        ],
        columns=["rule", "contestant", "forward_ms", "both_ms"],
    )
    got = report.aims(table).set_index(["rule", "against"]).sort_index()
    assert len(got) == len(report.AIMS) + len(report.AT_MOST)
    told = got.set_index("pass", append=True)[["aim", "measured", "reached"]]
    assert told.loc["hebbian", "this library, loop", "both"].tolist() == ["at least 30", 40.0, "yes"]
    assert told.loc["hebbian", "torch, softmax attention", "both"].tolist() == ["at least 8", 5.0, "no"]
    assert told.loc["delta", "this library, loop", "both"].fillna(-1).tolist() == ["at least 25", -1, "not measured"]
    hard = got.loc["oja", "this library, chunks, one-hot values"]
    assert hard["pass"].tolist() == ["forward", "both"] and set(hard["aim"]) == {"at most 2.8"}
    assert hard["measured"].tolist() == [2.0, 3.0] and hard["reached"].tolist() == ["yes", "no"]


def test_the_results_that_the_book_shows_are_what_the_command_would_keep():
    kept = {path.name for path in command.RESULTS.iterdir()}
    assert kept == {*command.TITLES, "machine.json", "growth.png"}
    table = pd.read_csv(command.RESULTS / "table.csv")
    aims = report.aims(table[table["shape"] == "×".join(map(str, report.REFERENCE))])
    # both tables are kept with four digits
    pd.testing.assert_frame_equal(pd.read_csv(command.RESULTS / "aims.csv"), aims, rtol=2e-3, check_dtype=False)
    programs = pd.read_csv(command.RESULTS / "monte_carlo.csv")
    assert programs["program"].tolist() == measures.monte_carlo(trials=1, rounds=1)["program"].tolist()
    ours = programs.set_index("program")["seconds"][measures.FASTEST]
    np.testing.assert_allclose(programs["ratio"], programs["seconds"] / ours, rtol=2e-3)


def test_the_programs_a_reader_might_write_measure_the_fidelity_of_the_theory():
    for program in (measures._memory, measures._association):
        assert program(64, 64, 20) == pytest.approx(2**-0.5, abs=0.01)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    table = pd.DataFrame({"a": [1, 2]})
    report.save(tmp_path, "t.csv", table)

    class Broken:
        def savefig(self, buffer, **_):
            buffer.write(b"half")
            raise OSError("no more room")

    with pytest.raises(OSError, match="no more room"):
        report.save(tmp_path, "t.csv", Broken())
    assert pd.read_csv(tmp_path / "t.csv").equals(table)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    "words", [["--shape", "1,2,3"], ["--shape", "1,2,0,4"], ["--shape", "a,b,c,d"], ["--rounds", "2"]]
)
def test_a_bad_command_line_is_refused_before_anything_is_timed(words, capsys):
    with pytest.raises(SystemExit) as end:
        command.main(words)
    assert end.value.code == 2
    assert "expected batch,heads,time,size" in (error := capsys.readouterr().err) or "must be at least 3" in error


def test_a_quick_run_prints_every_table_and_keeps_every_result(tmp_path, capsys):
    assert command.main(["--quick", "--shape", "1,1,64,8", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {*command.TITLES, "machine.json", "growth.png"} - {"aims.csv"}
    for name in kept - {"machine.json", "growth.png"}:
        assert command.TITLES[name] in printed
        table = pd.read_csv(tmp_path / name)
        if "rule" in table:
            table = table[table["rule"] != "softmax"]  # which has no ratio
        numbers = table.select_dtypes("number")
        assert len(numbers) and np.isfinite(numbers).all(axis=None)
    assert (pd.read_csv(tmp_path / "table.csv")[["forward_ms", "both_ms"]] > 0).all(axis=None)
    assert json.loads((tmp_path / "machine.json").read_text())["threads"] == torch.get_num_threads()
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
