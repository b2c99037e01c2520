"""The book's own Sphinx extension: what the site needs beyond the theme."""

from __future__ import annotations


def setup(app):
    app.connect("config-inited", drop_thebe)
    # After every other extension has added its files to the page.
    app.connect("html-page-context", keep_own_files, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def drop_thebe(app, config):
    """Jupyter Book always loads sphinx-thebe, which puts a foreign address and a script error on every page."""
    for listeners in list(app.events.listeners.values()):
        for listener in list(listeners):
            if listener.handler.__module__.startswith("sphinx_thebe"):
                app.disconnect(listener.id)


def keep_own_files(app, pagename, templatename, context, doctree):
    """Each script and style sheet once, and none of sphinx-thebe's."""
    context["default_mode"] = "auto"  # else the theme complains in the console that no mode was chosen
    for kind in ("script_files", "css_files"):
        seen, kept = set(), []
        for file in context.get(kind, []):
            name = str(getattr(file, "filename", file))
            mark = (name, getattr(file, "attributes", {}).get("body"))
            if "thebe" not in name and mark not in seen:
                seen.add(mark)
                kept.append(file)
        context[kind] = kept
