"""Growth of the association matrix, and what a prompt leaves in it."""

import numpy as np
import pytest

from pavlov_lib.experiments import run_growth, run_prompts


def test_hebb_grows_in_proportion_to_the_times_a_pair_comes():
    table = run_growth(rules=["hebbian"], worlds=["one pair"], trials=2)
    np.testing.assert_allclose(table.norm, table.n, rtol=1e-12)  # a sum of up to 1024 equal matrices


def test_norms_follow_their_closed_forms():
    table = run_growth(rules=["hebbian", "hebbian+decay", "delta"], steps=(1, 3, 30, 300), key_dim=16, trials=200)
    # exact in expectation, so within four standard errors, plus rounding where every trial agrees
    assert ((table.norm - table.predicted).abs() <= 4 * table.norm_se + 1e-12 * table.norm).all()


def test_only_plain_hebb_grows_without_bound():
    table = run_growth(rules=["hebbian", "hebbian+decay", "delta"], steps=(400, 800), trials=20)
    growth = table.groupby(["rule", "world"]).norm.agg(lambda x: x.iloc[1] / x.iloc[0])
    assert growth["hebbian", "one pair"] == pytest.approx(2, rel=1e-12)
    assert growth["hebbian", "new pairs"] == pytest.approx(2**0.5, rel=0.05)  # four standard errors of 20 trials
    assert (growth[["hebbian+decay", "delta"]] < 1.05).all()


def test_growth_repeats_with_its_seed_and_differs_with_another():
    one, two = (run_growth(steps=[5], trials=3, seed=4) for _ in range(2))
    assert one.equals(two)
    assert not one.equals(run_growth(steps=[5], trials=3, seed=5))


def test_a_world_does_not_depend_on_which_others_are_run():
    both, alone = run_growth(steps=[7], trials=3), run_growth(steps=[7], trials=3, worlds=["new pairs"])
    assert both[both.world == "new pairs"].norm.tolist() == alone.norm.tolist()


def test_a_prompt_is_known_within_itself_and_not_beyond():
    table = run_prompts(pairs=[1, 16], trials=300).set_index(["asked", "pairs"])
    assert (table.accuracy["its own prompt"] > 0.98).all()
    other = table.loc["another prompt"]
    assert ((other.accuracy - other.chance).abs() < 4 * (other.chance * (1 - other.chance) / 300) ** 0.5).all()


def test_orthogonal_pairs_are_all_recalled():
    # one pair and nothing else: the response is the code itself
    assert run_prompts(pairs=[1], key_dim=2, trials=50).accuracy[0] == 1


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: run_growth(rules=["oja"]), "each of rules"),
        (lambda: run_growth(worlds=["other"]), "each of worlds"),
        (lambda: run_growth(steps=[0]), "each of steps"),
        (lambda: run_growth(trials=0), "trials"),
        (lambda: run_growth(key_dim=0), "key_dim"),
        (lambda: run_growth(decay=1.0), "decay"),
        (lambda: run_growth(seed=-1), "seed"),
        (lambda: run_prompts(pairs=[]), "pairs"),
        (lambda: run_prompts(trials=1), "trials"),
        (lambda: run_prompts(symbols=1), "symbols"),
        (lambda: run_prompts(rule="other"), "rule"),
    ],
)
def test_bad_input_is_refused(run, message):
    with pytest.raises(ValueError, match=message):
        run()
