#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the binary interface that the header declares with the one recorded in abi.xml: functions, their types, the
# layout of every struct. A library of empty functions is made from the header, which abidw reads.
#
#   abi.sh COMPILER             compares, with abidiff
#   abi.sh COMPILER --update    records
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
header=$here/../../include/polykem/polykem.h
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v abidw >/dev/null || {
  echo "abi test: abidw is not here; install it and try again: sudo apt-get install -y abigail-tools" >&2
  exit 1
}

# Turns every declaration into an empty definition.
{
  echo '#include <polykem/polykem.h>'
  sed 's,^#define POLYKEM_API.*,#define POLYKEM_API DECLARED,' "$header" | "$1" -E -P -x c - | tr '\n' ' ' |
    grep -o 'DECLARED [^;{]*;' | sed 's/^DECLARED //; s/;$/ { __builtin_trap(); }/'
} >"$scratch/stubs.c"
(($(grep -c __builtin_trap "$scratch/stubs.c") > 20)) || {
  echo "abi test: found no functions in $header" >&2
  exit 1
}
"$1" -g -w -fPIC -shared -I"$here/../../include" "$scratch/stubs.c" -o "$scratch/libpolykem.so"
abidw --no-corpus-path --no-comp-dir-path --no-show-locs --drop-private-types --type-id-style hash \
  "$scratch/libpolykem.so" >"$scratch/abi.xml"
if [[ ${2:-} == --update ]]; then
  sed "s|path='$scratch/|path='|" "$scratch/abi.xml" >"$here/abi.xml"
  exit
fi
abidiff "$here/abi.xml" "$scratch/abi.xml" || {
  echo "abi test: the binary interface is not the recorded one. docs/versions.md says when that needs a new minor" \
    "version; then record it: tests/install/abi.sh cc --update" >&2
  exit 1
}
