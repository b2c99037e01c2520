"""Associative-memory circuits: attention as Pavlovian conditioning.

Keys are conditional stimuli (the bell), values are unconditional stimuli (the food), queries are test stimuli.
A forward pass writes a transient association matrix by a learning rule, and a query reads it.

Axis vocabulary, used in every docstring: ``...`` any leading batch or head axes, ``t`` time, ``n`` associations,
``k`` key size, ``v`` value size. The association matrix, the state, has shape ``(..., v, k)``.

Examples
--------
>>> import numpy as np
>>> from pavlov_lib import RULES, read
>>> bell, light = np.eye(2)
>>> food = np.array([1.0])
>>> S = RULES["hebbian"].write(np.zeros((1, 2)), bell, food)
>>> print(read(S, bell), read(S, light))
[1.] [0.]
"""

from .rules import RULES, Rule, read

__version__ = "0.1.0"
__all__ = ["RULES", "Rule", "read"]
