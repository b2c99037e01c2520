"""The sources of assignments are run and marked by tests/teach; the notebook check has no outputs to compare there."""

collect_ignore = ["course"]
