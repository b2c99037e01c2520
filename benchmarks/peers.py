"""Public implementations to compare with, loaded from their files."""

import importlib.metadata
import importlib.util
from types import ModuleType


def naive_module(name: str) -> ModuleType | None:
    """The naive forms of the operator ``name`` in the package fla-core, or None where it is not installed.

    The file is loaded by itself, since importing the package asks for a GPU compiler that these forms do not use.
    """
    try:
        path = importlib.metadata.distribution("fla-core").locate_file(f"fla/ops/{name}/naive.py")
        importlib.metadata.distribution("einops")
    except importlib.metadata.PackageNotFoundError:
        return None
    spec = importlib.util.spec_from_file_location(f"fla_naive_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def causal_product():
    """The C++ kernel of pytorch-fast-transformers, ``(queries, keys, values) -> reads``, or None if not installed."""
    try:
        from fast_transformers.causal_product import causal_dot_product
    except ImportError:
        return None
    return causal_dot_product
