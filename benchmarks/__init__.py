"""Side-by-side timings of the circuits and their peers: ``python -m benchmarks``.

Every contestant is timed in the same process and in turn, round after round, so that whatever else the machine does
hurts all of them alike. What is worth reading are the ratios; the milliseconds belong to one machine.
"""
