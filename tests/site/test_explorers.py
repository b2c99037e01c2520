"""The explorers of the website against the library: same settings, same numbers, same pictures, same words."""

from __future__ import annotations

import math
import re
from html import unescape
from pathlib import Path

import pytest

from pavlov_lib.widgets import EXPLORERS, explorer
from pavlov_lib.widgets.svg import draw

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "book" / "_static" / "explorers.js"
CASES = [
    ("conditioning", {}),
    ("conditioning", {"trials": []}),
    ("conditioning", {"rule": "hebbian", "rate": 1.0, "trials": ["both+food"] * 40}),
    ("conditioning", {"rule": "delta", "rate": 0.95, "trials": ["bell+food", "both+shock", "light+nothing"] * 5}),
    ("conditioning", {"rule": "oja", "rate": 0.5, "trials": ["bell+food", "bell+nothing", "light+shock"]}),
    ("capacity", {}),
    ("capacity", {"n": 1, "d_k": 8, "rule": "delta"}),
    ("capacity", {"n": 96, "d_k": 16, "rule": "delta"}),
    ("capacity", {"n": 41, "d_k": 64, "rule": "oja"}),
    ("depth", {}),
    ("depth", {"layers": 24, "heads": 3, "n": 128, "d_k": 32, "readout": "majority"}),
    ("depth", {"layers": 5, "heads": 8, "n": 256, "d_k": 32, "readout": "average"}),
    ("depth", {"layers": 1, "heads": 4, "n": 2, "d_k": 8, "readout": "any"}),
    ("depth", {"layers": 12, "heads": 8, "n": 20, "d_k": 64, "readout": "any"}),
    ("drift", {}),
    ("drift", {"reversal": True, "angle": 0.0, "rate": 0.5}),
    ("drift", {"show": "oja", "angle": 0.05}),
    ("drift", {"show": "hebbian+decay", "decay": 0.8, "reversal": True}),
    *[("attention", {"t": t}) for t in (1, 4, 6)],
    *[("extinction", {"protocol": p}) for p in ("extinction", "reacquisition", "blocking", "overexpectation")],
    ("extinction", {"protocol": "overshadowing", "rule": "hebbian", "rate": 0.9}),
    ("extinction", {"protocol": "blocking", "rule": "oja", "rate": 0.05}),
    ("forgetting", {}),
    ("forgetting", {"decay": 1.0, "d_k": 64}),
    ("forgetting", {"decay": 0.8, "d_k": 8}),
]


@pytest.fixture(scope="module")
def page(browser):
    """An empty page with the script and with every explorer's description in it."""
    context = browser.new_context()
    page = context.new_page()
    page.set_content("".join(e.html() for e in EXPLORERS.values()))
    page.evaluate(SCRIPT.read_text(encoding="utf8"))
    yield page
    context.close()


LOOK = """([name, settings]) => {
  const root = document.querySelector(`[data-explorer="${name}"]`);
  const {controls, data} = JSON.parse(root.querySelector('.explorer-source').textContent);
  const first = Object.fromEntries(controls.map((c) => [c.name, c.value]));
  const seen = pavlovExplorers.VIEWS[name](data, {...first, ...settings});
  return {seen, pictures: seen.panels.map(pavlovExplorers.draw)};
}"""


def differences(a, b, where="") -> list[str]:
    """Where two pieces of plain data differ; numbers may differ by rounding in another order of additions."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        # 200 steps of sums of a few hundred terms: about 1e-12; the embedded quadrature has ten digits
        return [] if math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-9) else [f"{where}: {a} against {b}"]
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return [f"{where}: {sorted(a)} against {sorted(b)}"]
        return [d for key in a for d in differences(a[key], b[key], f"{where}.{key}")]
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if len(a) != len(b):
            return [f"{where}: {len(a)} entries against {len(b)}"]
        return [d for i, (x, y) in enumerate(zip(a, b, strict=True)) for d in differences(x, y, f"{where}[{i}]")]
    return [] if a == b else [f"{where}: {a!r} against {b!r}"]


@pytest.mark.parametrize(("name", "settings"), CASES, ids=lambda x: x if isinstance(x, str) else "-".join(map(str, x)))
def test_the_page_computes_and_says_what_the_library_does(page, name, settings):
    ours, theirs = explorer(name).look(**settings), page.evaluate(LOOK, [name, settings])["seen"]
    assert not differences(ours, theirs)


@pytest.mark.parametrize(("name", "settings"), CASES, ids=lambda x: x if isinstance(x, str) else "-".join(map(str, x)))
def test_the_page_draws_what_the_library_draws(page, name, settings):
    number = re.compile(r"-?\d+\.\d+")
    for ours, theirs in zip(
        map(draw, explorer(name).look(**settings)["panels"]),
        page.evaluate(LOOK, [name, settings])["pictures"],
        strict=True,
    ):
        assert number.sub("#", unescape(ours)) == number.sub("#", unescape(theirs))
        pairs = zip(number.findall(ours), number.findall(theirs), strict=True)
        assert max(abs(float(a) - float(b)) for a, b in pairs) < 0.11  # one step of the last digit of a coordinate


OUTSIDE = """([name, settings]) => {
  const {pictures} = (LOOK)([name, settings]);
  document.body.insertAdjacentHTML('beforeend', `<div id="probe" style="width:360px">${pictures.join('')}</div>`);
  const outside = [...document.querySelectorAll('#probe text')].filter((t) => {
    const box = t.getBBox(), frame = t.ownerSVGElement.viewBox.baseVal;
    return box.x < 0 || box.x + box.width > frame.width || box.y < 0 || box.y + box.height > frame.height;
  }).map((t) => t.textContent);
  document.querySelector('#probe').remove();
  return outside;
}"""


@pytest.mark.parametrize(("name", "settings"), CASES, ids=lambda x: x if isinstance(x, str) else "-".join(map(str, x)))
def test_all_writing_stays_inside_its_picture(page, name, settings):
    assert page.evaluate(OUTSIDE.replace("LOOK", LOOK), [name, settings]) == []


def test_every_explorer_is_compared():
    assert {name for name, _ in CASES} == set(EXPLORERS)


def fresh(browser, name: str):
    context = browser.new_context()
    page = context.new_page()
    page.set_content(explorer(name).html())
    page.evaluate(SCRIPT.read_text(encoding="utf8"))
    return page, context


@pytest.mark.parametrize("name", [n for n, e in EXPLORERS.items() if any(c.kind == "slider" for c in e.controls)])
def test_the_arrow_keys_move_a_slider_and_the_words_follow(browser, name):
    page, context = fresh(browser, name)
    slider = next(c for c in explorer(name).controls if c.kind == "slider")
    page.focus("input[type=range]")
    page.keyboard.press("ArrowRight")
    expected = explorer(name).look(**{slider.name: slider.value + slider.step})["words"]
    page.wait_for_function("(words) => document.querySelector('.explorer-words').textContent === words", arg=expected)
    context.close()


def test_the_dog_is_trained_by_keyboard_alone(browser):
    page, context = fresh(browser, "conditioning")
    page.focus("text=Start again")
    page.keyboard.press("Enter")
    page.focus("text=Five times")
    page.keyboard.press("Enter")
    page.focus("input[value=food]")
    page.keyboard.press("ArrowRight")  # shock
    page.keyboard.press("ArrowRight")  # nothing
    page.focus("text=Present once")
    page.keyboard.press("Space")
    page.focus("input[value=delta]")
    page.keyboard.press("ArrowLeft")  # Hebb
    expected = explorer("conditioning").look(trials=["bell+food"] * 5 + ["bell+nothing"], rule="hebbian")
    page.wait_for_function(
        "(words) => document.querySelector('.explorer-words').textContent === words", arg=expected["words"]
    )
    assert page.locator(".explorer-log li").all_text_contents() == expected["log"]
    context.close()


def test_a_finger_can_move_a_slider(browser):
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.set_content(explorer("capacity").html())
    page.evaluate(SCRIPT.read_text(encoding="utf8"))
    box = page.locator("input[type=range]").first.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    page.wait_for_function("() => document.querySelector('.explorer-words').textContent.startsWith('96 pairs')")
    context.close()


def test_one_step_of_a_slider_is_answered_within_a_tenth_of_a_second(page):
    for name in EXPLORERS:
        took = page.evaluate(
            f"([name]) => {{ const look = {LOOK}; look([name, {{}}]); const start = performance.now(); "
            "for (let i = 0; i < 5; i++) look([name, {}]); return (performance.now() - start) / 5; }",
            [name],
        )
        assert took < 100, f"{name}: {took:.0f} ms"
