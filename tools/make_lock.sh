#!/bin/sh
# Resolve all extras in a fresh environment and pin what came: requirements.lock is used as a list of constraints.
# torch stays at the release that is pinned already: a newer one is chosen by hand, in the lock.
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tools/make_venv.sh "$scratch/env"
torch=$(grep '^torch==' requirements.lock 2>/dev/null || echo torch)
"$scratch/env/bin/python" -m pip install --quiet -e '.[torch,book,lab,lite,teach,test,print]' "$torch"
{
    echo "# Exact versions of every dependency, written by 'make lock'. Used as constraints: pip install -c requirements.lock"
    "$scratch/env/bin/python" -m pip freeze --exclude-editable | sed -E 's/^(torch==[0-9.]+)\+.*/\1/' | LC_ALL=C sort -f
} > requirements.lock.part
mv requirements.lock.part requirements.lock
