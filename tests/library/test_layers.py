"""Modules import in one direction only, and siblings never import each other."""

import ast
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "pavlov_lib"
ORDER = [
    "checks", "stimuli", "rules", "attention", "theory", "protocols", "experiments", "models", "training", "reference",
    "figures", "widgets", "sweeps", "__main__",
]  # fmt: skip
# A package's shared ground, in order: each of these may import those before it, all other files may import any of
# these, and nothing else.
GROUND = {
    "rules": ["base", "fading", "tuned", "chunks"],
    "protocols": ["trials", "run", "schedules"],
    "experiments": ["common"],
    "training": ["tasks", "loop", "stacks"],
    "figures": ["export", "style"],
    "widgets": ["svg", "controls", "live", "base"],
}
NEEDS_TORCH = [("models",), ("training",), ("rules", "tuned")]


def imports(path: Path) -> set[tuple[str, ...]]:
    """Modules of the library that a file imports when it is loaded or called, as paths below ``pavlov_lib``."""
    here = path.relative_to(LIBRARY).with_suffix("").parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level] + tuple((node.module or "").split(".")) * bool(node.module)
            if base:
                found.add(base)
                found |= {(*base, a.name) for a in node.names if (LIBRARY.joinpath(*base, a.name + ".py")).exists()}
            else:
                found |= {(a.name,) for a in node.names if a.name in ORDER}
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            found |= {tuple(name.split(".")[1:]) for name in names if name.split(".")[0] == "pavlov_lib"}
    return {name for name in found if name}


FILES = sorted(path for path in LIBRARY.rglob("*.py"))


def identity(path: Path) -> str:
    return "/".join(path.relative_to(LIBRARY).with_suffix("").parts)


@pytest.mark.parametrize("path", [p for p in FILES if p != LIBRARY / "__init__.py"], ids=identity)
def test_a_module_imports_only_from_above(path):
    here = path.relative_to(LIBRARY).with_suffix("").parts
    assert here[0] in ORDER, f"{here[0]} has no place in the order of layers"
    for there in imports(path):
        if there[0] == here[0]:
            continue
        assert ORDER.index(there[0]) < ORDER.index(here[0]), f"{here} imports {there}"


@pytest.mark.parametrize("path", [p for p in FILES if len(p.relative_to(LIBRARY).parts) == 2], ids=identity)
def test_siblings_never_import_each_other(path):
    package, name = path.relative_to(LIBRARY).with_suffix("").parts
    if name == "__init__":
        return
    siblings = {there[1] for there in imports(path) if there[0] == package and len(there) > 1} - {name}
    ground = GROUND.get(package, [])
    allowed = set(ground[: ground.index(name)] if name in ground else ground)
    assert siblings <= allowed, f"{package}/{name} imports its siblings {siblings - allowed}"


@pytest.mark.parametrize("path", FILES, ids=identity)
def test_torch_is_imported_at_load_time_only_where_it_is_needed(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    loaded = {a.name for node in tree.body if isinstance(node, ast.Import) for a in node.names}
    loaded |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom) and not node.level}
    if not any(name and name.split(".")[0] == "torch" for name in loaded):
        return
    here = path.relative_to(LIBRARY).with_suffix("").parts
    assert any(here[: len(place)] == place for place in NEEDS_TORCH)
