"""The fast form gives the numbers of the loop that defines each rule: forward and gradient, on all it accepts."""

import functools
import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pavlov_lib import RULES, attention, read

# Sums of a few hundred products in another order: some 1e-15 relative in float64. The promise is 1e-10; we hold 1e-13.
EXACT = 1e-13
EXACT32 = 2e-6  # the same in float32, where one rounding is 6e-8
LEADS = ((), (3,), (2, 3))
LENGTHS = (1, 2, 3, 63, 64, 65, 127, 150)  # one step, less than a chunk, whole chunks, and lengths no chunk divides


def draw(rng, rule, *, steps, lead=(), key_dim=5, value_dim=4, dtype=np.float64):
    """Unit keys and queries, and values that the rule keeps stable at the rate of :func:`tame`."""
    keys, queries = (_unit(rng.standard_normal((*lead, steps, key_dim))) for _ in range(2))
    values = rng.standard_normal((*lead, steps, value_dim))
    return tuple(x.astype(dtype) for x in (keys, values, queries))


def tame(rule):
    return 0.1 if rule.name == "oja" else 1.0


def _unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def distance(got, expected):
    """Largest difference relative to the largest number."""
    got, expected = (np.asarray(x.detach().cpu() if hasattr(x, "detach") else x) for x in (got, expected))
    assert got.shape == expected.shape and got.dtype == expected.dtype
    return np.abs(got - expected).max() / max(np.abs(expected).max(), np.finfo(expected.dtype).tiny)


def assert_equal_forms(rule, keys, values, queries, *, tolerance=EXACT, chunk=64, **options):
    expected = rule.scan(keys, values, queries, **options)
    got = rule.scan_parallel(keys, values, queries, chunk=chunk, **options)
    for name, x, y in zip(("reads", "state"), got, expected, strict=True):
        assert distance(x, y) <= tolerance, name


def gradients(form, arrays, options, torch):
    """Reads, state and the gradient of a random weighting of both with respect to every array that came in."""

    def leaf(x):
        return torch.tensor(x, requires_grad=True) if isinstance(x, np.ndarray) else x

    arrays = [leaf(x) for x in arrays]
    options = {name: leaf(x) for name, x in options.items()}
    results = form(*arrays, **options)
    weights = torch.Generator().manual_seed(0)
    loss = sum((x * torch.randn(x.shape, generator=weights, dtype=x.dtype)).sum() for x in results)
    leaves = [x for x in (*arrays, *options.values()) if torch.is_tensor(x)]
    return [*results, *torch.autograd.grad(loss, leaves)]


def assert_equal_gradients(rule, arrays, *, tolerance=EXACT, **options):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    expected = gradients(rule.scan, arrays, options, torch)
    got = gradients(rule.scan_parallel, arrays, options, torch)
    for x, y in zip(got, expected, strict=True):
        assert distance(x, y) <= tolerance


# --- shapes and settings


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize("name", RULES)
def test_any_length_and_any_leading_axes(name, steps, lead):
    rule, rng = RULES[name], np.random.default_rng(steps)
    arrays = draw(rng, rule, steps=steps, lead=lead)
    state = rng.standard_normal((*lead, 4, 5))
    assert_equal_forms(rule, *arrays, rate=tame(rule))
    assert_equal_forms(rule, *arrays, rate=tame(rule), state=state)
    assert_equal_gradients(rule, arrays, rate=tame(rule), state=state)


@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize("name", RULES)
def test_a_session_without_tests_leaves_the_same_state(name, steps):
    rule, rng = RULES[name], np.random.default_rng(steps)
    keys, values, queries = draw(rng, rule, steps=steps, lead=(3,))
    values[0, -1] = 1  # with Oja's rate of one below, this step wipes out all that a neuron held
    rates = rng.uniform(0, tame(rule), (3, steps))
    rates[0, -1] = 1
    options = {"state": rng.standard_normal((3, 4, 5)), "rate": rates}
    if name == "hebbian":
        options["decay"] = rng.uniform(0.5, 1, (3, 1))
    _, expected = rule.scan(keys, values, queries, **options)
    for form in (rule.scan, rule.scan_parallel):
        reads, state = form(keys, values, None, **options)
        assert reads is None
        assert distance(state, expected) <= EXACT


@pytest.mark.parametrize("asked", [True, False], ids=["read", "written only"])
@pytest.mark.parametrize("name", RULES)
def test_autocast_changes_nothing(name, asked):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule = RULES[name]
    arrays = [torch.tensor(x) for x in draw(np.random.default_rng(2), rule, steps=150, lead=(2,), dtype=np.float32)]

    def results(form, half):
        keys, values, queries = (x.clone().requires_grad_() for x in arrays)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
            reads, state = form(keys, values, queries if asked else None, rate=tame(rule))
        total = state.square().sum() + (reads.square().sum() if asked else 0)
        return [state, *torch.autograd.grad(total, [keys, values])]

    for form in (rule.scan, rule.scan_parallel):
        for x, y in zip(results(form, True), results(form, False), strict=True):
            assert distance(x, y) == 0


@pytest.mark.parametrize("what", ["read", "write", "softmax_attention", "linear_attention"])
def test_autocast_changes_no_single_step_and_no_attention(what):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    keys, values, queries = (
        torch.tensor(x) for x in draw(np.random.default_rng(3), RULES["delta"], steps=20, dtype=np.float32)
    )
    state = torch.randn(4, 5, generator=torch.Generator().manual_seed(0))
    call = {
        "read": lambda: read(state, queries[0]),
        "write": lambda: RULES["delta"].write(state, keys[0], values[0]),
        "softmax_attention": lambda: attention.softmax_attention(keys, values, queries),
        "linear_attention": lambda: attention.linear_attention(keys, values, queries),
    }[what]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = call()
    assert distance(inside, call()) == 0


@pytest.mark.parametrize("name", RULES)
def test_the_gradient_of_a_session_without_tests(name):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule = RULES[name]
    keys, values, _ = (torch.tensor(x) for x in draw(np.random.default_rng(2), rule, steps=150, lead=(2,)))
    weights = torch.randn(2, 4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = []
    for form in (rule.scan, rule.scan_parallel):
        leaves = [x.clone().requires_grad_() for x in (keys, values)]
        _, state = form(*leaves, None, rate=tame(rule))
        found.append(torch.autograd.grad((state * weights).sum(), leaves))
    for x, y in zip(*found, strict=True):
        assert distance(y, x) <= EXACT


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("axes", ["(h, t)", "(h, 1)", "(1, t)", "(1, 1)"])
def test_rates_of_every_token_head_or_step(name, axes):
    rule, rng = RULES[name], np.random.default_rng(7)
    arrays = draw(rng, rule, steps=150, lead=(3,))
    shape = {"(h, t)": (3, 150), "(h, 1)": (3, 1), "(1, t)": (1, 150), "(1, 1)": (1, 1)}[axes]
    rate = tame(rule) * rng.uniform(0, 1, shape)
    assert_equal_forms(rule, *arrays, rate=rate)
    assert_equal_gradients(rule, arrays, rate=rate)


@pytest.mark.parametrize("lowest", [0.99, 0.1, 1e-300])
@pytest.mark.parametrize("axes", ["number", "(h, t)", "(h, 1)", "(1, t)", "(1, 1)"])
def test_decays_of_every_token_head_or_step_however_small(axes, lowest):
    rule, rng = RULES["hebbian"], np.random.default_rng(8)
    arrays = draw(rng, rule, steps=150, lead=(3,))
    shape = {"number": (), "(h, t)": (3, 150), "(h, 1)": (3, 1), "(1, t)": (1, 150), "(1, 1)": (1, 1)}[axes]
    decay = lowest ** rng.uniform(0, 1, shape)  # spread evenly in the logarithm, from one down
    decay = float(decay) if shape == () else decay
    rate = rng.uniform(0, 1, (3, 150))
    assert_equal_forms(rule, *arrays, rate=rate, decay=decay)
    # the gradient of a decay near 1e-300 divides by it, and so leaves float64 in the loop itself
    if lowest > 1e-100:
        assert_equal_gradients(rule, arrays, rate=rate, decay=decay)


@pytest.mark.parametrize("chunk", [1, 2, 7, 16, 64, 100, 1000])
@pytest.mark.parametrize("name", RULES)
def test_the_chunk_does_not_change_the_numbers(name, chunk):
    rule = RULES[name]
    arrays = draw(np.random.default_rng(9), rule, steps=150)
    assert_equal_forms(rule, *arrays, rate=tame(rule), chunk=chunk)


@pytest.mark.parametrize("name", RULES)
def test_key_and_value_sizes_of_one(name):
    rule = RULES[name]
    arrays = draw(np.random.default_rng(10), rule, steps=70, key_dim=1, value_dim=1)
    assert_equal_forms(rule, *arrays, rate=tame(rule))
    assert_equal_gradients(rule, arrays, rate=tame(rule))


@pytest.mark.parametrize("name", RULES)
def test_arrays_that_are_views_in_another_memory_order(name):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule, rng = RULES[name], np.random.default_rng(11)
    arrays = [np.moveaxis(x, 0, 1) for x in draw(rng, rule, steps=3, lead=(70,))]  # (t, h, ·) read as (h, t, ·)
    assert_equal_forms(rule, *arrays, rate=tame(rule))
    assert_equal_forms(rule, *(torch.from_numpy(x) for x in arrays), rate=tame(rule))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_both_forms_agree_on_whatever_is_drawn(data):
    rule = RULES[data.draw(st.sampled_from(sorted(RULES)))]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    size = st.integers(1, 6)
    lead = tuple(data.draw(st.lists(st.integers(1, 3), max_size=2)))
    steps = data.draw(st.integers(1, 90))
    arrays = draw(rng, rule, steps=steps, lead=lead, key_dim=data.draw(size), value_dim=data.draw(size))
    rate = tame(rule) * rng.uniform(0, 1, (*lead, steps)) if data.draw(st.booleans()) else tame(rule)
    options = {"decay": data.draw(st.floats(1e-3, 1))} if rule.name == "hebbian" else {}
    assert_equal_forms(rule, *arrays, rate=rate, chunk=data.draw(st.integers(1, 100)), **options)


# --- inputs that break careless algebra


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_delta_with_one_bell_repeated_exactly(dtype):
    rule, rng = RULES["delta"], np.random.default_rng(12)
    arrays = draw(rng, rule, steps=200, lead=(2,), dtype=dtype)
    arrays[0][...] = arrays[0][:, :1]
    tolerance = EXACT if dtype == "float64" else EXACT32
    for rate in (0.1, 0.5, 1.0):
        assert_equal_forms(rule, *arrays, rate=rate, tolerance=tolerance)
        assert_equal_gradients(rule, arrays, rate=rate, tolerance=tolerance)


@pytest.mark.parametrize("rate", [1.5, 1.99, 2.0])
def test_delta_up_to_its_stability_limit(rate):
    rule = RULES["delta"]
    arrays = draw(np.random.default_rng(13), rule, steps=200, lead=(2,))
    assert_equal_forms(rule, *arrays, rate=rate)
    assert_equal_gradients(rule, arrays, rate=rate)


def test_delta_past_its_stability_limit_grows_as_the_loop_does():
    rule = RULES["delta"]
    arrays = draw(np.random.default_rng(14), rule, steps=200)
    assert_equal_forms(rule, *arrays, rate=2.5)


def test_delta_with_rates_of_zero():
    rule, rng = RULES["delta"], np.random.default_rng(15)
    arrays = draw(rng, rule, steps=100)
    rate = rng.integers(0, 2, 100).astype(float)  # the algebra must not divide by a rate
    assert_equal_forms(rule, *arrays, rate=rate)
    assert_equal_gradients(rule, arrays, rate=rate)


def one_hot(rng, shape):
    return np.eye(shape[-1])[rng.integers(0, shape[-1], shape[:-1])]


def signs(rng, shape):
    return rng.choice([-1.0, 1.0], shape)


def normal(rng, shape):
    return rng.standard_normal(shape)


def same(rng, shape):
    return np.full(shape, 2.0)


# what a neuron keeps, 1 − η v², is zero for (one_hot, 1) and (signs, 1), at times negative for (normal, 0.1) and
# (normal, 0.5), 0.1 for (signs, 0.9) so that a product over a long chunk underflows, and −1 for (same, 0.5)
HARD_OJA = [(one_hot, 1.0), (signs, 1.0), (normal, 0.1), (normal, 0.5), (signs, 0.9), (signs, 1 - 1e-9), (same, 0.5)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("values_from", "rate"), HARD_OJA, ids=lambda x: getattr(x, "__name__", x))
def test_oja_where_what_is_kept_is_zero_negative_or_underflows(values_from, rate, dtype):
    rule, rng = RULES["oja"], np.random.default_rng(16)
    keys, values, queries = draw(rng, rule, steps=1000, lead=(2,), dtype=dtype)
    values = values_from(rng, values.shape).astype(dtype)
    tolerance = EXACT if dtype == "float64" else EXACT32
    assert_equal_forms(rule, keys, values, queries, rate=rate, tolerance=tolerance)
    assert_equal_gradients(rule, (keys, values, queries), rate=rate, tolerance=tolerance)


@pytest.mark.parametrize("name", RULES)
def test_float32_stays_exact_over_a_long_sequence(name):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule = RULES[name]
    arrays = draw(np.random.default_rng(17), rule, steps=8192, key_dim=16, value_dim=16, dtype=np.float32)
    expected = rule.scan(*(x.astype(np.float64) for x in arrays), rate=tame(rule))
    for form in (arrays, [torch.from_numpy(x) for x in arrays]):
        for got, want in zip(rule.scan_parallel(*form, rate=tame(rule)), expected, strict=True):
            assert distance(got, want.astype(np.float32)) <= EXACT32


# --- torch: meta, compile, CUDA, second derivatives


@pytest.mark.parametrize("form", ["scan", "scan_parallel"])
@pytest.mark.parametrize("name", RULES)
def test_forward_and_backward_on_meta_touch_no_number(name, form):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    keys, values, queries, rate = (
        torch.empty(shape, device="meta", requires_grad=True) for shape in ((2, 70, 5), (2, 70, 4), (2, 70, 5), (2, 70))
    )
    reads, state = getattr(RULES[name], form)(keys, values, queries, rate=rate)
    (reads.sum() + state.sum()).backward()
    assert reads.shape == (2, 70, 4) and state.shape == (2, 4, 5)
    assert all(x.grad.is_meta and x.grad.shape == x.shape for x in (keys, values, queries, rate))


@pytest.mark.parametrize("form", ["scan", "scan_parallel"])
@pytest.mark.parametrize("name", RULES)
def test_gradients_are_those_of_finite_differences(name, form):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule, rng = RULES[name], np.random.default_rng(18)
    arrays = [torch.tensor(x, requires_grad=True) for x in draw(rng, rule, steps=5, key_dim=2, value_dim=2)]
    rate = torch.tensor(rng.uniform(0.05, 0.3, 5), requires_grad=True)
    state = torch.tensor(rng.standard_normal((2, 2)), requires_grad=True)

    def call(keys, values, queries, rate, state):
        return getattr(rule, form)(keys, values, queries, rate=rate, state=state)

    assert torch.autograd.gradcheck(call, (*arrays, rate, state))
    assert torch.autograd.gradgradcheck(call, (*arrays, rate, state))


@pytest.mark.parametrize("name", RULES)
def test_second_derivatives_where_one_tensor_serves_as_bell_and_as_test(name):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule, rng = RULES[name], np.random.default_rng(21)
    keys, values, _ = (torch.tensor(x, requires_grad=True) for x in draw(rng, rule, steps=5, key_dim=2, value_dim=2))
    for options in ({}, {"decay": 0.9}) if name == "hebbian" else ({},):
        for form in (rule.scan, rule.scan_parallel):
            bound = functools.partial(form, rate=0.3, **options)
            assert torch.autograd.gradgradcheck(lambda k, v, bound=bound: bound(k, v, k), (keys, values))


# --- the tuned forms of torch on a CPU, whose backward is written by hand, against the plain form left to autograd


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rates", ["number", "array"])
@pytest.mark.parametrize("size", [1, 2, 16, 64])
@pytest.mark.parametrize("name", RULES)
def test_the_tuned_form_equals_the_plain_form(name, size, rates, dtype):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    from pavlov_lib.rules import tuned

    rule, rng = RULES[name], np.random.default_rng(22)
    plain = importlib.import_module(f"pavlov_lib.rules.{name}").chunked
    arrays = [x.reshape(2, 3, 4, size, -1) for x in draw(rng, rule, steps=4 * size, lead=(2, 3), dtype=dtype)]
    state = rng.standard_normal((2, 3, 4, 5)).astype(dtype)
    rate = tame(rule) * rng.uniform(0, 1, (2, 3, 4, size)).astype(dtype) if rates == "array" else tame(rule)
    decay = [1.0] if name == "hebbian" else []
    expected, got = (
        gradients(
            lambda k, v, q, s, rate, form=form: form(k, v, q, s, rate, *decay), [*arrays, state], {"rate": rate}, torch
        )
        for form in (plain, functools.partial(getattr(tuned, name), plain))
    )
    for x, y in zip(got, expected, strict=True):
        assert distance(x, y) <= (EXACT if dtype == "float64" else EXACT32)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rates", ["number", "array"])
@pytest.mark.parametrize(
    ("most_lost", "quiet", "way"),  # of a neuron by one step, at most; the share of steps that write nothing
    [(0.01, 0, "ByQuotients"), (0.5, 0, "ByQuotients"), (0.93, 0.9, "ByQuotients"), (0.95, 0.9, "ByJoins"),
     (1.0, 0.9, "ByJoins"), (1.5, 0.9, "ByJoins"), (0.93, 0, "ByJoins")],
)  # fmt: skip
def test_oja_divides_only_where_each_step_and_each_chunk_keeps_enough(most_lost, quiet, way, rates, dtype, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    tuned = importlib.import_module("pavlov_lib.rules.tuned.oja")
    plain = importlib.import_module("pavlov_lib.rules.oja").chunked
    taken = []
    monkeypatch.setattr(tuned, "call", lambda form, *a, call=tuned.call: taken.append(form.__name__) or call(form, *a))

    rng, chunk = np.random.default_rng(26), 512 if dtype == "float64" and most_lost == 0.93 and not quiet else 64
    arrays = [x.reshape(2, 3, 2, chunk, -1) for x in draw(rng, RULES["oja"], steps=2 * chunk, lead=(2, 3), dtype=dtype)]
    lost = most_lost * rng.uniform(0.5, 1, arrays[1].shape)
    lost.flat[0] = most_lost
    loud = rng.uniform(size=arrays[1].shape) >= quiet
    loud.flat[0] = True
    rate = np.full(arrays[1].shape[:-1], 0.2, dtype) if rates == "array" else 0.2
    arrays[1] = (np.sign(arrays[1]) * np.sqrt(lost / 0.2) * loud).astype(dtype)
    state = rng.standard_normal((2, 3, 4, 5)).astype(dtype)
    expected, got = (
        gradients(form, [*arrays, state], {"rate": rate}, torch)
        for form in (plain, functools.partial(tuned.oja, plain))
    )
    assert taken == [way]
    for x, y in zip(got, expected, strict=True):
        assert distance(x, y) <= (EXACT if dtype == "float64" else EXACT32)


@pytest.mark.parametrize("rates", ["number", "array"])
@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("axes", ["number", "all", "head", "step", "one"])
def test_the_tuned_form_with_a_decay_that_needs_no_gradient(axes, lead, rates):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule, rng = RULES["hebbian"], np.random.default_rng(25)
    arrays = draw(rng, rule, steps=150, lead=lead)
    state = rng.standard_normal((*lead, 4, 5))
    ones = (1,) * len(lead)
    shape = {"number": (), "all": (*lead, 150), "head": (*lead, 1), "step": (*ones, 150), "one": (*ones, 1)}[axes]
    decay = torch.from_numpy(rng.uniform(0.5, 1, shape)) if shape else 0.9
    options = {"state": state, "rate": rng.uniform(0, 1, (*lead, 150)) if rates == "array" else 0.7}
    expected, got = (
        gradients(functools.partial(form, decay=decay), arrays, options, torch)
        for form in (rule.scan, rule.scan_parallel)
    )
    for x, y in zip(got, expected, strict=True):
        assert distance(x, y) <= EXACT


@pytest.mark.parametrize("name", RULES)
def test_the_tuned_form_is_what_torch_on_a_cpu_gets(name, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    from pavlov_lib.rules import tuned

    calls = []
    monkeypatch.setattr(tuned, name, lambda plain, *arrays: calls.append(name) or plain(*arrays))
    arrays = [torch.from_numpy(x) for x in draw(np.random.default_rng(23), RULES[name], steps=64)]
    RULES[name].scan_parallel(*arrays)
    assert calls == [name]
    RULES[name].scan_parallel(*(x.to("meta") for x in arrays))  # there the plain form serves
    assert calls == [name]


@pytest.mark.parametrize("name", RULES)
def test_a_gradient_of_the_reads_or_of_the_state_alone_taken_twice(name):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule = RULES[name]
    arrays = [torch.tensor(x, requires_grad=True) for x in draw(np.random.default_rng(24), rule, steps=70)]
    for which in (0, 1):
        expected, got = (
            form(*arrays, rate=tame(rule))[which].square().sum() for form in (rule.scan, rule.scan_parallel)
        )
        expected = torch.autograd.grad(expected, arrays, materialize_grads=True)
        for _ in range(2):  # the second time must find what the first one used unchanged
            for x, y in zip(
                torch.autograd.grad(got, arrays, materialize_grads=True, retain_graph=True), expected, strict=True
            ):
                assert distance(x, y) <= EXACT


@pytest.mark.parametrize("name", RULES)
def test_each_rule_compiles_into_one_graph(name):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule = RULES[name]
    arrays = [torch.from_numpy(x) for x in draw(np.random.default_rng(19), rule, steps=70)]
    rate = torch.full((70,), tame(rule), dtype=torch.float64)
    # the eager backend traces the whole graph and generates no code: seconds, not minutes
    graph = torch.compile(rule.scan_parallel, fullgraph=True, backend="eager")
    for got, expected in zip(graph(*arrays, rate=rate), rule.scan(*arrays, rate=rate), strict=True):
        assert distance(got, expected) <= EXACT


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", RULES)
def test_on_a_gpu_both_forms_agree_and_stay_there(name, dtype):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine")
    rule = RULES[name]
    arrays = draw(np.random.default_rng(20), rule, steps=150, lead=(2,), dtype=dtype)
    arrays = [torch.from_numpy(x).cuda() for x in arrays]
    reads, state = rule.scan_parallel(*arrays, rate=tame(rule))
    assert reads.is_cuda and state.is_cuda
    assert_equal_forms(rule, *arrays, rate=tame(rule), tolerance=EXACT if dtype == "float64" else EXACT32)
