"""The recipes name what exists: workflows are valid, versions pinned, links decode, and the servers start and stop."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import pavlov_launch  # noqa: E402

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGE = ROOT / "book" / "teach" / "deploy.md"
CONTAINER = ROOT / "Containerfile"
RECIPES = [*WORKFLOWS, CONTAINER, PAGE, ROOT / "CONTRIBUTING.md"]
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


def steps(path: Path) -> list[dict]:
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


# --- GitHub ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def validate():
    """The published schema of workflow files, which comes with the tool and needs no network."""

    def run(path: Path) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_valid(validate, path):
    done = validate(path)
    assert done.returncode == 0, done.stdout


def test_a_broken_workflow_is_not_valid(validate, tmp_path):
    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOWS[0].read_text("utf-8").replace("runs-on:", "runs-at:"), encoding="utf-8")
    assert validate(broken).returncode != 0


def test_every_action_is_pinned_to_one_commit_that_is_the_same_everywhere():
    pinned = {}
    for path in WORKFLOWS:
        for used in re.findall(r"uses: (\S+ ?#? ?\S*)", path.read_text("utf-8")):
            found = re.fullmatch(r"(actions/[\w-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)", used)
            assert found, f"an action must be pinned as owner/name@commit # version; got {used}"
            assert pinned.setdefault(found[1], found.groups()) == found.groups()
    assert {"actions/checkout", "actions/upload-pages-artifact", "actions/deploy-pages"} <= set(pinned)


def test_workflows_may_only_do_what_they_need():
    allowed = {}
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] == {"contents": "read"} and workflow["concurrency"]
        for name, job in workflow["jobs"].items():
            assert job["timeout-minutes"] <= 60
            if "permissions" in job:
                allowed[name] = job["permissions"]
    assert allowed == {"publish": {"pages": "write", "id-token": "write"}}


def test_the_gate_is_what_is_run_and_the_built_site_what_is_published():
    runs = {path.stem: [step.get("run", "") for step in steps(path)] for path in WORKFLOWS}
    assert ".ci/run" in runs["test"]
    assert "make lite" in runs["pages"]
    (artifact,) = [s for s in steps(ROOT / ".github/workflows/pages.yml") if "upload-pages" in s.get("uses", "")]
    site = re.search(r"^SITE := (\S+)", (ROOT / "Makefile").read_text("utf-8"), re.M)[1]
    assert artifact["with"]["path"] == site


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_every_target_and_file_that_a_recipe_names_exists(path):
    text = path.read_text("utf-8")
    named = set(re.findall(r"\bmake ([a-z]+)\b(?=`|\s*$|\s+#|,|\s+[A-Z]+=|;|\))", text, re.M))
    assert named <= TARGETS, named - TARGETS
    files = re.findall(r"(?<![\w/.])(?:tools|binder|\.ci|\.github|lite|tests)/[\w./-]*\w", text)
    assert not [name for name in files if not (ROOT / name).exists()]


# --- the container ---------------------------------------------------------------------------------------------------


def test_the_container_file_is_clean():
    linter = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if not linter:
        pytest.skip("hadolint is not installed: it comes for 64-bit Linux, macOS and Windows only")
    done = subprocess.run([linter, str(CONTAINER)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_container_installs_with_the_lock_as_the_readme_does_and_is_no_root():
    lines = CONTAINER.read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "-m pip install -c requirements.lock -e" in lines and "-m pip install -c requirements.lock -e" in readme
    assert ".venv/bin/jupyter-book build ." in lines and ".venv/bin/jupyter-book build ." in readme
    assert re.search(r"^USER (?!root|0\b)", lines, re.M) and lines.index("USER") < lines.index("COPY")
    assert "HEALTHCHECK" in lines


def test_what_the_container_leaves_out_exists_or_is_made_and_holds_the_solutions():
    left_out = {x for x in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if x and x[0] != "#"}
    assert "book/teach/course" in left_out and ".git" in left_out
    ignored = {x.rstrip("/") for x in (ROOT / ".gitignore").read_text("utf-8").splitlines()}
    for name in left_out:
        known = (ROOT / name).exists() or name in ignored or name.removeprefix("**/") in ignored
        assert known or name == ".git", f"{name} is neither a file nor something that is made"
    needed = ("pyproject.toml", "requirements.lock", "_config.yml", "_toc.yml", "book/data", "pavlov_lib", "locale",
              "benchmarks/results", "tools/serve_all.py", "README.md", "LICENSE", "LICENSE-content")  # fmt: skip
    for name in needed:
        assert (ROOT / name).exists()
        assert not [x for x in left_out if Path(name).is_relative_to(x)]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_site_and_lab_are_served_together_and_end_together(tmp_path):
    site, config = tmp_path / "html", tmp_path / "config"
    site.mkdir()
    config.mkdir()
    (site / "index.html").write_text("<p>the book</p>")
    # only in this test: where it runs, there may be no other user than root
    (config / "jupyter_server_config.json").write_text(json.dumps({"ServerApp": {"allow_root": True}}))
    ports = ["--site", str(free_port()), "--lab", str(free_port())]
    command = [sys.executable, str(ROOT / "tools" / "serve_all.py"), *ports]
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(config), "JUPYTER_TOKEN": "test"}
    assert subprocess.run([*command, "--check"], capture_output=True, check=False).returncode == 1
    with (tmp_path / "log").open("w") as log:
        serving = subprocess.Popen(
            [*command, "--folder", str(site)], env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            deadline = time.monotonic() + 60  # a busy machine needs its time to start JupyterLab
            while subprocess.run([*command, "--check"], capture_output=True, check=False).returncode:
                assert serving.poll() is None and time.monotonic() < deadline, (tmp_path / "log").read_text()[-2000:]
                time.sleep(0.3)
        finally:
            serving.send_signal(signal.SIGTERM)
        assert serving.wait(timeout=30) == 0
    assert subprocess.run([*command, "--check"], capture_output=True, check=False).returncode == 1


def test_a_folder_without_a_site_is_refused(tmp_path):
    command = [sys.executable, str(ROOT / "tools" / "serve_all.py"), "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and f"got {tmp_path}" in done.stderr


# --- the hub ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("repository", ["https://github.com/owner/a-book", "git@github.com:owner/a-book.git"])
def test_a_link_for_a_hub_decodes_to_repository_branch_and_page(repository):
    made = urlsplit(pavlov_launch.hub_link("https://hub.example.edu/sub/", repository, "main", "book/mapping.ipynb"))
    assert (made.scheme, made.netloc) == ("https", "hub.example.edu")
    assert made.path == "/sub/hub/user-redirect/git-pull"
    assert parse_qs(made.query) == {
        "repo": ["https://github.com/owner/a-book"],
        "branch": ["main"],
        "urlpath": ["lab/tree/a-book/book/mapping.ipynb"],
    }


@pytest.mark.parametrize(
    ("hub", "repository"),
    [("hub.example.edu", "https://github.com/o/n"), ("https://hub.example.edu", "https://example.org/o/n")],
)
def test_a_link_to_nowhere_is_refused(hub, repository):
    with pytest.raises(ValueError, match="got"):
        pavlov_launch.hub_link(hub, repository, "main", "book/mapping.ipynb")


def test_what_the_page_shows_as_configuration_can_be_read():
    shown = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    assert [set(yaml.safe_load(block)) for block in shown] == [{"singleuser"}]


def test_the_wheelhouse_holds_what_its_installation_asks_for():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (fetched,) = re.findall(r"pip download .* '\.\[([\w,]+)\]' (.*)", makefile)
    asked = re.search(r'--find-links _build/wheelhouse .*"\.\[([\w,]+)\]"', PAGE.read_text("utf-8"))[1]
    assert fetched[0] == asked
    # an editable installation builds, and a build asks for its tools
    assert {"hatchling", "editables"} <= set(fetched[1].split())
