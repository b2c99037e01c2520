"""Bad input is refused before any work, with an error that says what was expected and what came."""

import sys

import numpy as np
import pytest

from pavlov_lib import RULES, checks, read

SCANS = ("scan", "scan_parallel")


def arrays(*, steps=4, key_dim=3, value_dim=2, lead=()):
    rng = np.random.default_rng(0)
    return [rng.standard_normal((*lead, steps, d)) for d in (key_dim, value_dim, key_dim)]


def pair():
    return np.zeros((2, 3)), np.ones(3), np.ones(2)


def refuses(message, function, *args, **options):
    with pytest.raises(ValueError, match=message):
        function(*args, **options)


# --- shapes


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 3), (4,), (2,)), r"key must have shape \(\.\.\., k\) = \(3,\); got \(4,\)"),
        (((2, 3), (3,), (3,)), r"value must have shape \(\.\.\., v\) = \(2,\); got \(3,\)"),
        (((2, 3), (1, 3), (2,)), r"key must have shape \(\.\.\., k\) = \(3,\); got \(1, 3\)"),
        (((5, 2, 3), (3,), (5, 2)), r"key must have shape \(\.\.\., k\) = \(5, 3\); got \(3,\)"),
        (((5, 2, 3), (5, 3), (1, 2)), r"value must have shape \(\.\.\., v\) = \(5, 2\); got \(1, 2\)"),
        (((3,), (3,), ()), r"state must have shape \(\.\.\., v, k\); got shape \(3,\)"),
        (((0, 3), (3,), (0,)), r"state must hold at least one number; got shape \(0, 3\)"),
        (((2, 0), (0,), (2,)), r"state must hold at least one number; got shape \(2, 0\)"),
    ],
)
@pytest.mark.parametrize("name", RULES)
def test_write_refuses_shapes_that_do_not_fit(name, shapes, message):
    refuses(message, RULES[name].write, *(np.ones(shape) for shape in shapes))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((4, 3), (4, 2), (4, 2)), r"queries must have shape \(\.\.\., t, k\) = \(4, 3\); got \(4, 2\)"),
        (((4, 3), (5, 2), (4, 3)), r"values must have shape \(\.\.\., t, v\) = \(4, 2\); got \(5, 2\)"),
        (((4, 3), (4, 2), (3, 3)), r"queries must have shape \(\.\.\., t, k\) = \(4, 3\); got \(3, 3\)"),
        (((2, 4, 3), (4, 2), (2, 4, 3)), r"values must have shape \(\.\.\., t, v\) = \(2, 4, 2\); got \(4, 2\)"),
        (((2, 4, 3), (1, 4, 2), (2, 4, 3)), r"values must have shape \(\.\.\., t, v\) = \(2, 4, 2\); got \(1, 4, 2\)"),
        (((3,), (4, 2), (4, 3)), r"keys must have shape \(\.\.\., t, k\); got shape \(3,\)"),
        (((4, 3), (4,), (4, 3)), r"values must have shape \(\.\.\., t, v\); got shape \(4,\)"),
        (((0, 3), (0, 2), (0, 3)), r"keys must hold at least one number; got shape \(0, 3\)"),
        (((4, 0), (4, 2), (4, 0)), r"keys must hold at least one number; got shape \(4, 0\)"),
        (((4, 3), (4, 0), (4, 3)), r"values must hold at least one number; got shape \(4, 0\)"),
        (((0, 4, 3), (0, 4, 2), (0, 4, 3)), r"keys must hold at least one number; got shape \(0, 4, 3\)"),
    ],
)
@pytest.mark.parametrize("form", SCANS)
@pytest.mark.parametrize("name", RULES)
def test_scans_refuse_shapes_that_do_not_fit(name, form, shapes, message):
    refuses(message, getattr(RULES[name], form), *(np.ones(shape) for shape in shapes))


@pytest.mark.parametrize("shape", [(3, 2), (1, 2, 3), (2, 4)])
@pytest.mark.parametrize("form", SCANS)
@pytest.mark.parametrize("name", RULES)
def test_scans_refuse_a_state_that_does_not_fit(name, form, shape):
    message = r"state must have shape \(\.\.\., v, k\) = \(2, 3\); got"
    refuses(message, getattr(RULES[name], form), *arrays(), state=np.ones(shape))


def test_read_refuses_shapes_that_do_not_fit():
    refuses(r"query must have shape \(\.\.\., k\) = \(3,\); got \(2,\)", read, np.ones((2, 3)), np.ones(2))
    refuses(r"query must have shape \(\.\.\., k\) = \(5, 3\); got \(3,\)", read, np.ones((5, 2, 3)), np.ones(3))
    refuses(r"state must have shape \(\.\.\., v, k\); got shape \(3,\)", read, np.ones(3), np.ones(3))
    refuses(r"state must hold at least one number; got shape \(2, 0\)", read, np.ones((2, 0)), np.ones(0))


# --- kinds, dtypes, devices


@pytest.mark.parametrize("dtype", ["int64", "int32", "bool", "float16", "complex128", "O"])
@pytest.mark.parametrize("name", RULES)
def test_only_float32_and_float64_are_taken(name, dtype):
    rule = RULES[name]
    for position, argument in enumerate(("state", "key", "value")):
        args = list(pair())
        args[position] = args[position].astype(dtype)
        refuses(f"{argument} must be float32 or float64; got {np.dtype(dtype)}", rule.write, *args)
    for form in SCANS:
        for position, argument in enumerate(("keys", "values", "queries")):
            args = arrays()
            args[position] = args[position].astype(dtype)
            refuses(f"{argument} must be float32 or float64; got", getattr(rule, form), *args)
        refuses("state must be float32 or float64", getattr(rule, form), *arrays(), state=np.ones((2, 3)).astype(dtype))
    refuses("query must be float32 or float64", read, np.ones((2, 3)), np.ones(3).astype(dtype))


@pytest.mark.parametrize("dtype", ["int64", "bool", "float16", "bfloat16", "complex64"])
@pytest.mark.parametrize("name", RULES)
def test_only_float32_and_float64_tensors_are_taken(name, dtype):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    dtype = getattr(torch, dtype)
    rule = RULES[name]
    message = f"must be float32 or float64; got {str(dtype).removeprefix('torch.')}"
    refuses(message, rule.write, *(torch.ones(x.shape, dtype=dtype) for x in pair()))
    for form in SCANS:
        refuses(message, getattr(rule, form), *(torch.ones(x.shape, dtype=dtype) for x in arrays()))
    refuses(message, read, torch.ones(2, 3, dtype=dtype), torch.ones(3, dtype=dtype))


@pytest.mark.parametrize("name", RULES)
def test_lists_and_numbers_are_no_arrays(name):
    rule = RULES[name]
    state, key, value = pair()
    refuses("state must be a NumPy array or a torch tensor; got list", rule.write, state.tolist(), key, value)
    refuses("key must be a NumPy array or a torch tensor; got list", rule.write, state, key.tolist(), value)
    refuses("value must be a NumPy array or a torch tensor; got float", rule.write, state, key, 1.0)
    refuses("query must be a NumPy array or a torch tensor; got NoneType", read, state, None)
    for form in SCANS:
        keys, values, queries = arrays()
        refuses("keys must be a NumPy array or a torch tensor; got list", getattr(rule, form), [1.0], values, queries)
        refuses("state must be a NumPy array", getattr(rule, form), keys, values, queries, state=0)


@pytest.mark.parametrize("name", RULES)
def test_two_dtypes_are_not_mixed(name):
    rule = RULES[name]
    state, key, value = pair()
    message = "must have the dtype of state, float64; got float32"
    refuses("key " + message, rule.write, state, key.astype("float32"), value)
    refuses("query " + message, read, state, key.astype("float32"))
    for form in SCANS:
        keys, values, queries = arrays()
        refuses("must have the dtype of keys", getattr(rule, form), keys, values.astype("float32"), queries)
        rate = np.full(4, 0.1, dtype="float32")
        refuses("rate must have the dtype of keys", getattr(rule, form), keys, values, queries, rate=rate)


@pytest.mark.parametrize("name", RULES)
def test_numpy_and_torch_are_not_mixed(name):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule = RULES[name]
    state, key, value = pair()
    message = "must both be NumPy arrays or both be torch tensors; got ndarray and Tensor"
    refuses("state and key " + message, rule.write, state, torch.from_numpy(key), value)
    refuses("state and query " + message, read, state, torch.from_numpy(key))
    for form in SCANS:
        keys, values, queries = arrays()
        refuses("keys and queries " + message, getattr(rule, form), keys, values, torch.from_numpy(queries))
        rate = torch.full((4,), 0.1, dtype=torch.float64)
        refuses("keys and rate " + message, getattr(rule, form), keys, values, queries, rate=rate)
        tensors = [torch.from_numpy(x) for x in (keys, values, queries)]
        refuses("keys and state must both", getattr(rule, form), *tensors, state=state)


@pytest.mark.parametrize("name", RULES)
def test_two_devices_are_not_mixed(name):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    rule = RULES[name]
    state, key, value = (torch.from_numpy(x) for x in pair())
    refuses("key must be on the device of state, cpu; got meta", rule.write, state, key.to("meta"), value)
    refuses("query must be on the device of state, cpu; got meta", read, state, key.to("meta"))
    for form in SCANS:
        keys, values, queries = (torch.from_numpy(x) for x in arrays())
        refuses("values must be on the device of keys, cpu", getattr(rule, form), keys, values.to("meta"), queries)


# --- rates and decays


BAD_RATES = [-0.1, -1e-300, float("nan"), float("inf"), -float("inf")]
BAD_DECAYS = [*BAD_RATES, 0.0, 1.0 + 1e-15, 2.0]


@pytest.mark.parametrize("rate", BAD_RATES)
@pytest.mark.parametrize("name", RULES)
def test_a_rate_is_finite_and_not_negative(name, rate):
    rule = RULES[name]
    refuses("rate must be finite and not negative; got", rule.write, *pair(), rate=rate)
    for form in SCANS:
        scan = getattr(rule, form)
        refuses("rate must be finite and not negative; got", scan, *arrays(), rate=rate)
        refuses("rate must be finite and not negative; got", scan, *arrays(), rate=np.array([0.1, 0.1, rate, 0.1]))


@pytest.mark.parametrize("decay", BAD_DECAYS)
def test_a_decay_is_above_zero_and_at_most_one(decay):
    rule = RULES["hebbian"]
    refuses(r"decay must be in \(0, 1\]; got", rule.write, *pair(), decay=decay)
    for form in SCANS:
        scan = getattr(rule, form)
        refuses(r"decay must be in \(0, 1\]; got", scan, *arrays(), decay=decay)
        refuses(r"decay must be in \(0, 1\]; got", scan, *arrays(), decay=np.array([0.1, 0.1, decay, 0.1]))


@pytest.mark.parametrize("setting", ["0.1", None, True, [0.1] * 4, 1j])
@pytest.mark.parametrize("name", RULES)
def test_a_rate_is_a_number_or_an_array(name, setting):
    rule = RULES[name]
    refuses("rate must be a number or an array of shape", rule.write, *pair(), rate=setting)
    for form in SCANS:
        refuses(
            r"rate must be a number or an array of shape \(\.\.\., t\)", getattr(rule, form), *arrays(), rate=setting
        )


@pytest.mark.parametrize("shape", [(), (3,), (5,), (4, 1), (2, 3, 4)])
@pytest.mark.parametrize("name", RULES)
def test_an_array_of_rates_has_one_for_each_step(name, shape):
    for form in SCANS:
        message = r"rate must be a number or have shape \(\.\.\., t\) = \(4,\); got"
        refuses(message, getattr(RULES[name], form), *arrays(), rate=np.full(shape, 0.1))


@pytest.mark.parametrize("setting", [1, np.float32(0.5), np.int64(1), np.float64(0.5)])
@pytest.mark.parametrize("name", RULES)
def test_numbers_of_any_kind_are_rates_and_keep_the_dtype_of_the_arrays(name, setting):
    keys, values, queries = (x.astype("float32") for x in arrays())
    for form in SCANS:
        reads, state = getattr(RULES[name], form)(keys, values, queries, rate=setting)
        assert reads.dtype == state.dtype == np.float32


@pytest.mark.parametrize("chunk", [0, -1, 2.0, "64", None, True])
@pytest.mark.parametrize("name", RULES)
def test_a_chunk_is_a_whole_number_of_at_least_one(name, chunk):
    message = "chunk must be a whole number of at least 1; got"
    refuses(message, RULES[name].scan_parallel, *arrays(), chunk=chunk)


# --- numbers


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("name", RULES)
def test_an_input_that_is_not_finite_is_named(name, kind, bad):
    array = np.asarray if kind == "numpy" else pytest.importorskip("torch", reason="torch is an extra").from_numpy
    rule = RULES[name]
    for position, argument in enumerate(("state", "key", "value")):
        args = [np.array(x) for x in pair()]
        args[position].flat[0] = bad
        refuses(f"{argument} must be finite; got NaN or infinity", rule.write, *map(array, args))
    for position, argument in enumerate(("state", "query")):
        args = [np.ones((2, 3)), np.ones(3)]
        args[position].flat[0] = bad
        refuses(f"{argument} must be finite; got NaN or infinity", read, *map(array, args))
    for form in SCANS:
        for position, argument in enumerate(("keys", "values", "queries")):
            args = arrays()
            args[position].flat[0] = bad
            refuses(f"{argument} must be finite; got NaN or infinity", getattr(rule, form), *map(array, args))
        start = array(np.full((2, 3), bad))
        refuses("state must be finite", getattr(rule, form), *map(array, arrays()), state=start)


# --- torch stays optional


def test_the_checks_never_import_torch():
    import subprocess

    program = (
        "import sys, numpy as np; from pavlov_lib import RULES; x = np.ones((70, 2));"
        "[f(x, x, x, rate=0.1) for r in RULES.values() for f in (r.scan, r.scan_parallel)];"
        "import pavlov_lib.attention as a; a.softmax_attention(x, x, x); a.linear_attention(x, x, x);"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- the small checks


def test_count_takes_whole_numbers_only():
    assert checks.count("n", np.int64(3)) == 3
    for bad in (0, 1.0, "1", None, True):
        refuses("n must be a whole number of at least 1; got", checks.count, "n", bad)


def test_counts_and_positive_numbers_take_non_empty_lists_only():
    assert checks.counts("dims", [1, 2]) == (1, 2)
    assert checks.positive_numbers("loads", (0.5, 2)) == (0.5, 2.0)
    for bad in ([], 3, "12", None):
        refuses("must be a non-empty list; got", checks.counts, "dims", bad)
        refuses("must be a non-empty list; got", checks.positive_numbers, "loads", bad)
    refuses("each of loads must be a number in", checks.positive_numbers, "loads", [1.0, 0.0])


def test_number_keeps_to_its_interval():
    assert checks.number("tau", 1, 0, 1) == 1.0
    for bad in (-0.1, 1.1, float("nan"), float("inf"), "1", None, False):
        refuses(r"tau must be a number in \[0, 1\]; got", checks.number, "tau", bad, 0, 1)
    refuses(r"tau must be a number in \(0, 1\]; got 0", checks.number, "tau", 0, 0, 1, open_low=True)


def test_one_of_and_some_of_list_what_is_allowed():
    assert checks.some_of("rules", ["delta"], RULES) == ("delta",)
    refuses("rule must be one of hebbian, delta, oja; got 'anti'", checks.one_of, "rule", "anti", RULES)
    refuses("each of rules must be one of hebbian, delta, oja; got 'anti'", checks.some_of, "rules", ["anti"], RULES)
    refuses("rules must be a non-empty list; got 'delta'", checks.some_of, "rules", "delta", RULES)


def test_a_seed_is_a_whole_number_from_zero():
    assert checks.seed(0) == 0
    for bad in (-1, 0.5, None, "0"):
        refuses("seed must be a whole number of at least 0; got", checks.seed, bad)
