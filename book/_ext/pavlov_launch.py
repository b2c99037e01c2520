"""Ways to run a page: in the reader's browser, on Colab, on Binder.

The book does not know where it is published until somebody publishes it. Its address is the first of

1. the environment variable ``PAVLOV_REPOSITORY`` (empty: none),
2. ``repository: url:`` in _config.yml, which ``tools/set_repository.py`` writes,
3. where this checkout came from, if that is a repository on GitHub.

Without an address a page has no buttons for Colab, Binder, edits and issues, for they would lead nowhere.

With an address, ``PAVLOV_HUB`` names a JupyterHub, and each notebook gets a button for it.

The button for the reader's own browser needs no address, only the files in ``lite/`` of the site. It is there if
``PAVLOV_LITE=1`` or if the site has those files already, and the build then refreshes them; ``PAVLOV_LITE=0`` builds
without.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.errors import ConfigError, ExtensionError

ROOT = Path(__file__).resolve().parents[2]
COLAB = "https://colab.research.google.com/github"
BINDER = "https://mybinder.org/v2/gh"
JUPYTER_BOOKS_OWN = "https://github.com/executablebooks/jupyter-book"  # what it puts where _config.yml gives no address
REPOSITORY_BUTTONS = ("use_repository_button", "use_issues_button", "use_edit_page_button")
TORCH = re.compile(r"^\s*(?:import torch|from torch|(?:from|import) pavlov_lib\.(?:models|training))\b", flags=re.M)


def setup(app):
    app.add_config_value("pavlov_lite", False, "html")  # pages change with it
    app.add_directive("hub-link", HubLink)
    app.connect("config-inited", configure, priority=400)  # before pavlov_site asks for the address
    app.connect("html-page-context", add_ways_to_run, priority=600)  # after the theme's own buttons
    app.connect("build-finished", build_lite, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def configure(app, config):
    options = config.html_theme_options
    configured = options.get("repository_url", "")
    address = repository_address("" if configured == JUPYTER_BOOKS_OWN else configured)
    options["repository_url"] = address
    options.update(dict.fromkeys(REPOSITORY_BUTTONS, bool(address)))
    config.pavlov_lite = wants_lite(Path(app.outdir))


# --- where the book is published -------------------------------------------------------------------------------------


def repository_address(configured: str = "") -> str:
    """``https://github.com/<owner>/<name>``, or an empty text if the book has no public address."""
    named = os.environ.get("PAVLOV_REPOSITORY")
    if named is None:
        named = configured or public_address(origin())
    if named and not public_address(named):
        raise ConfigError(f"the book's address must be https://github.com/<owner>/<name>; got {named!r}")
    return public_address(named)


def origin() -> str:
    """Where this checkout came from, or an empty text."""
    try:
        done = subprocess.run(
            ["git", "remote", "get-url", "origin"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:  # the book may have been unpacked where there is no git
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def public_address(url: str) -> str:
    """The https form of a GitHub address, or an empty text for any other.

    >>> public_address("git@github.com:owner/name.git")
    'https://github.com/owner/name'
    >>> public_address("/home/me/book")
    ''
    """
    forms = r"(?:https://(?:[^@/]+@)?|ssh://git@|git@)github\.com[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?"
    found = re.fullmatch(forms, url)
    return f"https://github.com/{found[1]}/{found[2]}" if found else ""


# --- buttons ---------------------------------------------------------------------------------------------------------


def needs_torch(notebook: Path) -> bool:
    """Whether a notebook's code imports torch, or the parts of the library that do."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return any(TORCH.search("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code")


def add_ways_to_run(app, pagename, templatename, context, doctree):
    notebook = ROOT / f"{pagename}.ipynb"
    if not doctree or not notebook.is_file():
        return
    options = app.config.html_theme_options
    buttons = []
    if app.config.pavlov_lite and not needs_torch(notebook):
        buttons.append(
            link(
                "Run in the browser", "Python runs on this page's own site; nothing to install", lite(context, pagename)
            )
        )
    if address := options.get("repository_url"):
        where, branch = address.removeprefix("https://github.com/"), options.get("repository_branch") or "main"
        buttons += [
            link("Open in Colab", "Run on Google's machines", f"{COLAB}/{where}/blob/{branch}/{pagename}.ipynb"),
            link(
                "Open in Binder",
                "Run on a public server",
                f"{BINDER}/{where}/{branch}?urlpath=lab/tree/{pagename}.ipynb",
            ),
        ]
        if hub := os.environ.get("PAVLOV_HUB"):
            buttons.append(
                link(
                    "Open in JupyterHub",
                    "Run on your school's hub",
                    hub_link(hub, address, branch, f"{pagename}.ipynb"),
                )
            )
    if buttons:
        group = {"type": "group", "tooltip": "Run this page", "icon": "fas fa-rocket", "label": "launch-buttons"}
        context["header_buttons"].insert(0, group | {"buttons": buttons})


def hub_link(hub: str, repository: str, branch: str, page: str) -> str:
    """A link that brings the book into a student's folder on a JupyterHub with nbgitpuller, and opens a page of it.

    >>> hub_link("https://hub.example.edu/", "https://github.com/OWNER/NAME", "main", "book/mapping.ipynb")
    'https://hub.example.edu/hub/user-redirect/git-pull?repo=https%3A%2F%2Fgithub.com%2FOWNER%2FNAME&branch=main&urlpath=lab%2Ftree%2FNAME%2Fbook%2Fmapping.ipynb'
    """
    if not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", hub):
        raise ValueError(f"a hub's address must be https://<host>, with or without a path; got {hub!r}")
    if not public_address(repository):
        raise ValueError(f"the book's address must be https://github.com/<owner>/<name>; got {repository!r}")
    name = repository.rstrip("/").rpartition("/")[2].removesuffix(".git")
    question = {"repo": public_address(repository), "branch": branch, "urlpath": f"lab/tree/{name}/{page}"}
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{urlencode(question)}"


class HubLink(Directive):
    """``{hub-link} book/mapping.ipynb``: the link for a hub, with the book's own address where it has one."""

    required_arguments = 1

    def run(self):
        options = self.state.document.settings.env.config.html_theme_options
        repository = options.get("repository_url") or "https://github.com/OWNER/NAME"
        text = hub_link("https://YOUR-HUB", repository, options.get("repository_branch") or "main", self.arguments[0])
        return [nodes.literal_block(text, text, language="text")]


def link(text: str, tooltip: str, url: str) -> dict:
    return {"type": "link", "text": text, "tooltip": tooltip, "url": url}


def lite(context, pagename: str) -> str:
    return f"{context['pathto']('lite/lab/index.html', 1)}?path={pagename}.ipynb"


# --- the notebooks in the browser ------------------------------------------------------------------------------------


def wants_lite(site: Path) -> bool:
    asked = os.environ.get("PAVLOV_LITE", "")
    if asked not in ("", "0", "1"):
        raise ConfigError(f"PAVLOV_LITE must be 0 or 1; got {asked!r}")
    return asked == "1" or (not asked and (site / "lite" / "lab" / "index.html").is_file())


def build_lite(app, exception):
    if exception is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir) / "lite"
    if not app.config.pavlov_lite:
        shutil.rmtree(folder, ignore_errors=True)  # an older one would run older code
        return
    command = [sys.executable, str(ROOT / "tools" / "lite.py"), "--output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ExtensionError(f"the notebooks for the browser could not be built: {done.stderr.strip()[-2000:]}")
