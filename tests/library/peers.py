"""Public implementations to compare with; a test is skipped where one is not installed."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks import peers


def naive_module(name):
    """The naive forms of the operator ``name`` in the package fla-core."""
    module = peers.naive_module(name)
    if module is None:
        pytest.skip("fla-core is not installed")
    return module
