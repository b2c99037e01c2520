"""The chunked forms for torch on a CPU, with the backward pass written by hand. Nothing here needs to be read.

Each computes what the function ``chunked`` of its rule computes, which it is given as ``plain``;
a test holds the two equal. What is gained is memory traffic: results are added up in place, few chunks at a time
where many passes are made, and nothing is kept for the backward pass that it does not use.

Inside, b heads and n chunks are one axis: keys, queries (bn, c, k), values (bn, c, v), states (bn, v, k).
This is the one place of the rules that needs torch, so :mod:`pavlov_lib.rules.chunks` loads it once a tensor arrives.

A batched product is fast only where its result is contiguous: otherwise torch multiplies one matrix after another.
That is why some products below go to an array of their own before they are added.
"""

from .delta import delta
from .hebbian import hebbian
from .oja import oja

__all__ = ["delta", "hebbian", "oja"]
