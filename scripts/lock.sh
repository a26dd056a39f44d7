#!/bin/sh
# Write requirements-dev.lock: every package of development at one version, with the hashes of its
# files, for every system and every Python that the project supports.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
"$python" -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
new=requirements-dev.lock.new
trap 'rm -f "$new"' EXIT
{
    echo '# Every package of development at one version, with the hashes of its files; made by "make lock". To install:'
    echo '#   python -m pip install --require-hashes -r requirements-dev.lock && python -m pip install --no-deps -e .'
    # Without the index's address: whoever installs chooses where from.
    "$python" -m uv pip compile pyproject.toml --quiet --all-extras --universal --python-version 3.11 --upgrade \
        --generate-hashes --no-emit-index-url --no-annotate --no-header
} >"$new"
mv "$new" requirements-dev.lock
