"""An explorer in a live notebook: the same description as ipywidgets, computed by the library itself."""

from __future__ import annotations

from html import escape

import ipywidgets as ipw

from . import svg
from .controls import Choice, Slider, Switch, Trials


def widget(explorer) -> ipw.VBox:
    """Controls above, pictures and words below; every change is computed in Python."""
    setters = {control.name: BUILDERS[type(control)](control) for control in explorer.controls}
    screen = ipw.HTML()

    def show(_=None):
        seen = explorer.look(**{name: value() for name, (_, value, _) in setters.items()})
        screen.value = page(seen)

    for _, _, watch in setters.values():
        watch(show)
    show()
    head = ipw.HTML(f"<strong>{escape(explorer.title)}</strong><br/>{escape(explorer.hint)}")
    return ipw.VBox([head, *(box for box, _, _ in setters.values()), screen])


def page(seen: dict) -> str:
    """Pictures, words and log as one piece of HTML."""
    pictures = "".join(f'<div style="width:360px;max-width:100%">{svg.draw(p)}</div>' for p in seen["panels"])
    log = "".join(f"<li>{escape(entry)}</li>" for entry in seen.get("log", []))
    return f'<div style="display:flex;flex-wrap:wrap;gap:8px">{pictures}</div><p>{escape(seen["words"])}</p>' + (
        f"<ul>{log}</ul>" if log else ""
    )


# Each builder returns (what is shown, a function that gives the value, a function that calls back on a change).


def _observed(box, value=None):
    return box, value or (lambda: box.value), lambda callback: box.observe(callback, names="value")


def _slider(control: Slider):
    kind = ipw.FloatSlider if control.digits else ipw.IntSlider
    box = kind(
        value=control.value, min=control.low, max=control.high, step=control.step, description=control.label,
        style={"description_width": "12em"}, layout={"width": "34em", "max_width": "100%"},
        **({"readout_format": f".{control.digits}f"} if control.digits else {}),
    )  # fmt: skip
    return _observed(box)


def _choice(control: Choice):
    options = [(label, value) for value, label in control.options]
    return _observed(
        ipw.ToggleButtons(
            options=options, value=control.value, description=control.label, style={"description_width": "12em"}
        )
    )


def _switch(control: Switch):
    return _observed(ipw.Checkbox(value=control.value, description=control.label, indent=False))


def _trials(control: Trials):
    trials, callbacks = list(control.value), []
    cue = ipw.ToggleButtons(options=[(label, value) for value, label in control.cues], description="Cue")
    outcome = ipw.ToggleButtons(options=[(label, value) for value, label in control.outcomes], description="Outcome")

    def changed():
        for callback in callbacks:
            callback()

    def button(label, act):
        made = ipw.Button(description=label)
        made.on_click(lambda _: (act(), changed()))
        return made

    def present(times):
        trials.extend([f"{cue.value}+{outcome.value}"] * min(times, control.most - len(trials)))

    buttons = ipw.HBox(
        [
            button("Present once", lambda: present(1)),
            button("Five times", lambda: present(5)),
            button("Take back", lambda: trials.pop() if trials else None),
            button("Start again", trials.clear),
        ]
    )
    return ipw.VBox([cue, outcome, buttons]), lambda: tuple(trials), callbacks.append


BUILDERS = {Slider: _slider, Choice: _choice, Switch: _switch, Trials: _trials}
