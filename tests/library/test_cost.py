"""The account of arithmetic counts what is done, and its growth is what the book says."""

import numpy as np
import pytest

from pavlov_lib.attention import linear_attention
from pavlov_lib.experiments import FORMS, count_arithmetic, run_cost
from pavlov_lib.figures import draw_cost, draw_matches


def test_a_matrix_product_costs_its_three_sizes():
    account = count_arithmetic(np.matmul, np.ones((2, 3, 5)), np.ones((5, 7)))
    assert account == {"multiply_adds": 2 * 3 * 5 * 7, "largest": 2 * 3 * 7}


def test_the_account_survives_functions_that_make_plain_arrays():
    def forward(a):
        stacked = np.concatenate([np.tril(a), np.where(a > 0, a, 0)])
        return np.exp(np.stack([stacked * 2]))

    account = count_arithmetic(forward, np.ones((4, 4)))
    assert account["multiply_adds"] == account["exponentials"] == account["largest"] == 32


def test_additions_are_not_counted():
    assert count_arithmetic(lambda a: (a + a - 1).sum(), np.ones(9))["multiply_adds"] == 0


def test_products_in_place_are_counted():
    def forward(a):
        a *= 3
        return np.multiply(a, a, out=np.empty(5))

    assert count_arithmetic(forward, np.ones(5))["multiply_adds"] == 10


def test_counting_does_not_change_the_numbers():
    rng = np.random.default_rng(0)
    stimuli, seen = rng.standard_normal((3, 6, 4)), []
    count_arithmetic(lambda *x: seen.append(np.asarray(linear_attention(*x))), *stimuli)
    np.testing.assert_array_equal(seen[0], linear_attention(*stimuli))


def test_all_pairs_cost_the_square_of_the_length_and_the_circuit_the_length():
    table = run_cost(lengths=[256, 512], key_dim=8).pivot(index="form", columns="t", values="multiply_adds")
    growth = table[512] / table[256]
    assert growth["softmax"] == growth["linear, parallel"] == 4  # every term is a square of the length
    # the first write meets an empty matrix, which costs a little less
    np.testing.assert_allclose(growth[["linear, loop", "linear, chunks"]], 2, rtol=0.01)


def test_counts_agree_with_their_leading_order():
    table = run_cost(lengths=[64, 128, 512], key_dim=32, value_dim=48)
    # what the leading order leaves out is smaller by a factor 1/d_k or 1/d_v, up to two such terms
    np.testing.assert_allclose(table.multiply_adds, table.predicted, rtol=2 / 32)


def test_the_circuit_keeps_its_matrix_however_long_the_context():
    kept = run_cost(lengths=[64, 4096], forms=["linear, loop"], key_dim=4, value_dim=3).kept
    assert kept.tolist() == [12, 12]


def test_only_softmax_needs_exponentials():
    table = run_cost(lengths=[16], key_dim=4).set_index("form").exponentials
    assert table.to_dict() == {form: 256 if form == "softmax" else 0 for form in FORMS}


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"lengths": []}, "lengths"),
        ({"lengths": [0]}, "each of lengths"),
        ({"forms": ["other"]}, "each of forms"),
        ({"key_dim": 0}, "key_dim"),
        ({"value_dim": 1.5}, "value_dim"),
    ],
)
def test_bad_input_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        run_cost(**how)


def test_the_figures_draw_their_tables():
    table = run_cost(lengths=[16, 32], key_dim=4)
    for show in ("multiply_adds", "kept"):
        assert len(draw_cost(table, show=show).axes[0].get_lines()) == len(FORMS)
    with pytest.raises(ValueError, match="show must be one of"):
        draw_cost(table, show="time")
    assert "3 × 3 values" in draw_matches(np.tril(np.ones((3, 3))), ["a", "b", "c"]).digest()
