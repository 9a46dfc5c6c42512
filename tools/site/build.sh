#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the documentation site, build/site/index.html, with what tools/site/requirements.txt names. That goes into
# .venv-docs beside the root Makefile, the first time from PyPI. Warnings and links that lead nowhere are errors.
#
#   tools/site/build.sh           build the site
#   tools/site/build.sh --test    the tests of what builds it (tests/site)
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=$PWD/.venv-docs
requirements=tools/site/requirements.txt

if ! cmp -s "$requirements" "$venv/requirements.txt"; then
  rm -rf "$venv"
  options=(--quiet --disable-pip-version-check --only-binary=:all: --no-deps)
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install "${options[@]}" -r "$requirements"; }; then
    echo "polykem: Sphinx could not be installed into $venv (is there a network?)" >&2
    exit 1
  fi
  cp "$requirements" "$venv/requirements.txt"
fi

if [[ ${1:-} == --test ]]; then
  exec "$venv/bin/python" -B -m unittest discover --start-directory tests/site --pattern '*_test.py' --verbose
fi
exec "$venv/bin/python" -B tools/site/build.py
