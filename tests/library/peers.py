"""Public implementations to compare with, loaded from their files."""

import importlib.metadata
import importlib.util

import pytest


def naive_module(name):
    """The naive forms of the operator ``name`` in the package fla-core; the test is skipped if it is not installed.

    The file is loaded by itself, since importing the package asks for a GPU compiler that these forms do not use.
    """
    pytest.importorskip("einops", reason="einops, which fla-core needs, is not installed")
    try:
        path = importlib.metadata.distribution("fla-core").locate_file(f"fla/ops/{name}/naive.py")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("fla-core is not installed")
    spec = importlib.util.spec_from_file_location(f"fla_naive_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
