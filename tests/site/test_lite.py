"""The notebooks in the reader's browser: where the runtime comes from, what is hosted, and that they run there."""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import re
import subprocess
import sys
import tarfile
import threading
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "_ext")]

import lite_pages  # noqa: E402
import lite_runtime  # noqa: E402
from pavlov_launch import needs_torch  # noqa: E402

import lite  # noqa: E402

TOOL = [sys.executable, str(ROOT / "tools" / "lite.py")]
# A chapter with figures and an explorer, and the one with the most arithmetic in loops.
NOTEBOOKS = ["mapping", "drift"]
SECONDS = 300  # alone 20 to 40; the machine may be busy with other tests


@contextmanager
def serving(folder: Path):
    """The address at which a folder is served on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request, client_address):
            pass  # a browser that hangs up is no error

    server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# --- where the runtime comes from ------------------------------------------------------------------------------------

CONTENT = {"pyodide.js": b"the runtime", "a-1.0-py3-none-any.whl": b"a package"}


@pytest.fixture
def small_runtime(tmp_path, monkeypatch):
    """A runtime of two small files instead of fifty large ones, and an empty cache."""
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}
    monkeypatch.setattr(lite_runtime, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(lite_runtime, "runtime_sums", lambda: sums)
    monkeypatch.setattr(lite_runtime, "fetch_wheels", lambda: None)
    folder = tmp_path / "pyodide"
    folder.mkdir()
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    return folder


def as_zip(folder: Path) -> Path:
    with zipfile.ZipFile(folder.parent / "runtime.whl", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"deep/inside/{path.name}")
    return folder.parent / "runtime.whl"


def as_tar(folder: Path) -> Path:
    with tarfile.open(folder.parent / "pyodide-0.0.0.tar.bz2", "w:bz2") as archive:
        archive.add(folder, "pyodide")
    return folder.parent / "pyodide-0.0.0.tar.bz2"


@pytest.mark.parametrize("form", ["folder", "zip", "tar", "address of a folder", "address of an archive"])
def test_every_kind_of_source_gives_the_same_files(form, small_runtime, monkeypatch):
    path = {"zip": as_zip, "tar": as_tar, "address of an archive": as_tar}.get(form, lambda folder: folder)(
        small_runtime
    )
    with serving(small_runtime.parent) as address:
        source = address + path.name if "address" in form else str(path)
        monkeypatch.setenv("PAVLOV_PYODIDE", source + "/" * (form == "address of a folder"))
        assert lite.main(["fetch"]) == 0
    assert {name: (lite_runtime.CACHE / "pyodide" / name).read_bytes() for name in CONTENT} == CONTENT


def test_a_file_with_another_checksum_is_refused_and_not_kept(small_runtime, monkeypatch, capsys):
    (small_runtime / "pyodide.js").write_bytes(b"something else")
    monkeypatch.setenv("PAVLOV_PYODIDE", str(small_runtime))
    assert lite.main(["fetch"]) == 3
    assert "pyodide.js must have sha256" in capsys.readouterr().err
    assert not (lite_runtime.CACHE / "pyodide" / "pyodide.js").exists()


def test_a_file_that_went_bad_in_the_cache_is_fetched_again(small_runtime, monkeypatch):
    monkeypatch.setenv("PAVLOV_PYODIDE", str(small_runtime))
    assert lite.main(["fetch"]) == 0
    (lite_runtime.CACHE / "pyodide" / "pyodide.js").write_bytes(b"half a fi")
    assert lite.main(["fetch"]) == 0
    assert (lite_runtime.CACHE / "pyodide" / "pyodide.js").read_bytes() == CONTENT["pyodide.js"]


def test_what_is_in_the_cache_is_not_asked_for_again(small_runtime, monkeypatch):
    monkeypatch.setenv("PAVLOV_PYODIDE", str(small_runtime))
    assert lite.main(["fetch"]) == 0
    monkeypatch.setenv("PAVLOV_PYODIDE", str(small_runtime / "no such folder"))
    assert lite.main(["fetch"]) == 0


def test_without_a_source_the_message_says_what_was_tried_and_what_to_do(small_runtime, monkeypatch, capsys):
    monkeypatch.setenv("PAVLOV_PYODIDE", "http://127.0.0.1:1/")
    assert lite.main([]) == 3
    said = capsys.readouterr().err
    assert "No source gave the runtime for the browser" in said and "http://127.0.0.1:1/" in said
    assert "Name another source in PAVLOV_PYODIDE" in said


def test_an_address_without_encryption_is_refused(small_runtime, monkeypatch, capsys):
    monkeypatch.setenv("PAVLOV_PYODIDE", "http://example.org/pyodide/")
    assert lite.main(["fetch"]) == 3
    assert "an address must start with https://" in capsys.readouterr().err


# --- what is hosted --------------------------------------------------------------------------------------------------


def wheel(folder: Path, needs: list[str]) -> Path:
    path = folder / "some_thing-1.2-py3-none-any.whl"
    about = "Metadata-Version: 2.1\nName: some_thing\nVersion: 1.2\n" + "".join(f"Requires-Dist: {n}\n" for n in needs)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("thing/__init__.py", "")
        archive.writestr("thing/part/__init__.py", "")
        archive.writestr("some_thing-1.2.dist-info/METADATA", about)
    return path


def test_the_entry_of_a_wheel_names_its_imports_and_what_it_always_needs(tmp_path):
    path = wheel(tmp_path, ["NumPy>=2", "python_dateutil", "torch>=2; extra == 'torch'", "widgetsnbextension~=4.0"])
    entry = lite_runtime.wheel_entry(path)
    assert entry["name"] == "some-thing" and entry["version"] == "1.2" and entry["imports"] == ["thing"]
    # extras are not for the browser, and the kernel brings a stand-in for the extension
    assert entry["depends"] == ["numpy", "python-dateutil"]
    assert entry["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_package_that_needs_something_we_do_not_host_stops_the_build(tmp_path):
    with pytest.raises(ValueError, match="every package that is needed must be hosted; nowhere is not"):
        lite_runtime.hosted([wheel(tmp_path, ["nowhere"])])


def test_everything_that_the_library_needs_is_in_the_lock_or_among_our_wheels():
    listed = {lite_runtime.canonical(name) for name in lite_runtime.pyodide_lock()["packages"]}
    ours = {lite_runtime.canonical(start.split("-")[0]) for start in lite_runtime.wheel_sums()}
    assert {lite_runtime.canonical(name) for name in lite_runtime.library_needs()} <= listed | ours


def test_the_widgets_in_the_browser_are_the_ones_of_the_lock():
    pinned = dict(
        re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "requirements.lock").read_text(encoding="utf-8"), flags=re.M)
    )
    for start in lite_runtime.wheel_sums():
        name, version = start.rstrip("-").split("-")
        if name != "tqdm":  # Pyodide's own version
            assert pinned[name] == version


# --- the built pages -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(site, tmp_path_factory) -> Path:
    """The notebooks for the browser: those of the site, or else built for these tests."""
    if (site / "lite" / "lab" / "index.html").is_file():
        return site / "lite"
    folder = tmp_path_factory.mktemp("lite") / "lite"
    done = subprocess.run([*TOOL, "--output", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return folder


def test_every_hosted_file_has_its_checksum_and_every_need_is_hosted(built):
    folder = built / "static" / "pyodide"
    packages = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    official = {
        p["file_name"]: p["sha256"] for p in lite_runtime.pyodide_lock()["packages"].values()
    } | lite_runtime.core_sums()
    for path in folder.iterdir():
        if path.name == "pyodide-lock.json" or path.name.startswith("pavlov_lib-"):
            continue  # made by the build
        ours = [digest for start, digest in lite_runtime.wheel_sums().items() if path.name.startswith(start)]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == (ours or [official[path.name]])[0], path.name
    for package in packages.values():
        path = folder / package["file_name"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == package["sha256"], path.name
        assert {lite_runtime.canonical(need) for need in package["depends"]} <= set(
            map(lite_runtime.canonical, packages)
        )
    hosted = {p["file_name"] for p in packages.values()} | set(lite_runtime.core_sums()) | {"pyodide-lock.json"}
    assert {path.name for path in folder.iterdir()} == hosted


def test_the_library_that_is_hosted_carries_the_reference_numbers(built):
    (path,) = (built / "static" / "pyodide").glob("pavlov_lib-*.whl")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    references = [p.name for p in (ROOT / "book" / "data").glob("*.csv")]
    assert references and all(f"pavlov_lib/data/{name}" in names for name in references)
    assert "pavlov_lib/data/tolerances.toml" in names


def test_the_settings_ask_no_package_index(built):
    settings = json.loads((built / "jupyter-lite.json").read_text(encoding="utf-8"))["jupyter-config-data"]
    kernel = settings["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"]
    assert kernel["disablePyPIFallback"] is True
    assert kernel["pyodideUrl"].startswith("./static/pyodide/")


def test_pages_that_need_no_torch_lead_to_their_notebook_in_the_browser_and_no_other_does(site):
    if not (site / "lite" / "lab" / "index.html").is_file():
        pytest.skip("this site was built without notebooks for the browser (PAVLOV_LITE=1 builds with them)")
    pages = sorted((site / "book").glob("*.html"))
    assert pages
    for page in pages:
        name = page.stem
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        links = [a["href"] for a in soup.find_all("a", href=True) if "lite/lab" in a["href"]]
        notebook = ROOT / "book" / f"{name}.ipynb"
        runs = notebook.is_file() and not needs_torch(notebook)
        assert links == ([f"../lite/lab/index.html?path=book/{name}.ipynb"] if runs else []), name
        assert not runs or (site / "lite" / "files" / "book" / f"{name}.ipynb").is_file()


# --- the notebooks as they are hosted --------------------------------------------------------------------------------


def test_a_link_to_a_page_that_is_not_hosted_leads_to_the_website_or_is_plain_words():
    text = "See [capacity](capacity.ipynb), [on the page of proofs](proofs.md#p-1) and [there](https://example.org)."
    here = {"capacity.ipynb"}
    assert lite_pages.without_dead_links(text, here, "https://a.github.io/b/") == text.replace(
        "proofs.md#p-1", "https://a.github.io/b/book/proofs.html#p-1"
    )
    assert lite_pages.without_dead_links(text, here, "") == text.replace(
        "[on the page of proofs](proofs.md#p-1)", "on the page of proofs"
    )


def test_a_citation_becomes_names_a_year_and_a_link():
    assert lite_pages.with_plain_citations("{cite:t}`oja1982`") == "[Oja (1982)](https://doi.org/10.1007/BF00275687)"
    assert lite_pages.with_plain_citations("as {cite:t}`rescorla1972` say") == "as Rescorla and Wagner (1972) say"
    assert "et al. (2017)" in lite_pages.with_plain_citations("{cite:t}`vaswani2017`")
    with pytest.raises(ValueError, match=r"must name an entry of references\.bib; got nobody1900"):
        lite_pages.with_plain_citations("{cite:t}`nobody1900`")


def test_every_notebook_without_torch_is_hosted_and_holds_no_dead_link_and_no_raw_citation(built):
    hosted = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (built / "files").rglob("*.ipynb")}
    assert set(hosted) == {path.name for path in (ROOT / "book").glob("*.ipynb") if not needs_torch(path)}
    for name, notebook in hosted.items():
        text = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
        linked = re.findall(r"\]\(([\w.-]+\.(?:ipynb|md))", text)
        assert set(linked) <= set(hosted), name
        assert not re.search(r"\{[a-z:]+\}`", text), name


READY = """() => {
  const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  return kernel?.status === 'idle';
}"""
RUN = """async () => {
  const { commands, shell } = window.jupyterapp;
  await commands.execute('notebook:clear-all-cell-outputs');
  await commands.execute('notebook:run-all-cells');
  return shell.currentWidget.model.sharedModel.toJSON();
}"""


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_to_its_last_cell_in_a_browser_without_network(name, built, browser):
    written = json.loads((built / "files" / "book" / f"{name}.ipynb").read_text(encoding="utf-8"))
    with serving(built) as address:
        context = browser.new_context()
        outside: list[str] = []

        def refuse(route):
            outside.append(route.request.url)
            route.abort()

        def open_up(route):
            answer = route.fetch()
            settings = answer.json()
            settings["jupyter-config-data"]["exposeAppInBrowser"] = True  # so that the test can ask what the cells hold
            route.fulfill(response=answer, json=settings)

        context.route(lambda url: not url.startswith((address, "data:", "blob:")), refuse)
        context.route(f"{address}jupyter-lite.json*", open_up)
        page = context.new_page()
        page.goto(f"{address}lab/index.html?path=book/{name}.ipynb")
        page.wait_for_function(READY, timeout=1000 * SECONDS)
        page.set_default_timeout(1000 * SECONDS)
        cells = [cell for cell in page.evaluate(RUN)["cells"] if cell["cell_type"] == "code"]
        context.close()
    outputs = [output for cell in cells for output in cell["outputs"]]
    errors = [(o["ename"], o["evalue"]) for o in outputs if o["output_type"] == "error"]
    assert errors == []
    assert all(cell["execution_count"] for cell in cells)
    assert agreements(cells) == agreements(written["cells"]) != []
    assert outside == []


def agreements(cells: list[dict]) -> list[str]:
    """The lines by which a notebook says that its numbers are the ones of the reference."""
    texts = ("".join(output.get("text", "")) for cell in cells for output in cell.get("outputs", []))
    return [line for text in texts for line in text.splitlines() if "agree with the reference" in line]
