"""The learning rules, one file each, all with the same three functions: write, scan, scan_parallel."""

from .base import Rule, read
from .delta import DELTA
from .hebbian import HEBBIAN
from .oja import OJA

RULES = {rule.name: rule for rule in (HEBBIAN, DELTA, OJA)}

__all__ = ["RULES", "Rule", "read"]
