#!/bin/sh
# Make the virtual environment $1, installing what Debian leaves out of python3 where that is possible.
set -eu
venv=$1
python=${PYTHON:-python3}
say() { printf '%s\n' "$*" >&2; }

if ! command -v "$python" >/dev/null; then
    say "expected a Python of at least 3.11 as '$python' (set PYTHON=... for another name); got none"; exit 2
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    say "expected Python 3.11 or newer (set PYTHON=... for another one); got $("$python" --version)"; exit 2
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    # Debian and Ubuntu ship Python's own venv module as a package of its own.
    if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then as_root=; elif sudo -n true 2>/dev/null; then as_root=sudo
    else say "Python's venv module is missing: install the package python3-venv, then run this again"; exit 2; fi
    $as_root apt-get update -q && $as_root apt-get install -y -q python3-venv
fi
"$python" -m venv --clear "$venv"
"$venv/bin/python" -m pip --version >/dev/null
