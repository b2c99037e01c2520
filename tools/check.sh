#!/bin/sh
# All checks of 'make test', each step timed. $1 is the environment's bin folder; further words choose steps.
set -eu
cd "$(dirname "$0")/.."
bin=$1
shift
steps=${*:-lint library notebooks teach site}
export OMP_NUM_THREADS=1  # the checks run in parallel processes instead
export PYTHONWARNINGS=default

lint() {
    "$bin/ruff" check .
    "$bin/ruff" format --check .
    "$bin/codespell"
}
library() { "$bin/python" -m pytest -q -n 2 tests/library --doctest-modules pavlov_lib; }
notebooks() {
    "$bin/python" -m pytest -q -n 2 --dist loadfile --nbval --nbval-current-env --nbval-cell-timeout=400 book
    "$bin/python" -m pytest -q -n 2 tests/notebooks
}
teach() { "$bin/python" -m pytest -q -n 2 --dist loadfile tests/teach; }
site() {
    # 3: no source has the browser's Python. The site is then checked without it, and the tests say what they skip.
    PAVLOV_LITE=1
    "$bin/python" tools/lite.py fetch || { [ $? -eq 3 ] || exit 1; PAVLOV_LITE=0; }
    export PAVLOV_LITE
    "$bin/jupyter-book" build . -W --keep-going --quiet --all
    PAVLOV_SITE=_build/html "$bin/python" -m pytest -q tests/site tests/teach/test_split.py
}

for step in $steps; do
    start=$(date +%s)
    echo "== $step"
    "$step"
    echo "== $step passed in $(($(date +%s) - start)) s"
done
