#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Uses an installed polykem from outside the tree.
#
#   run.sh install  BUILD PREFIX                     installs BUILD into PREFIX and checks what arrived
#   run.sh moved    PREFIX                           the tree still works in another place
#   run.sh symbols  PREFIX                           the shared library shows polykem_* and nothing else
#   run.sh cmake    PREFIX LANGUAGE SOURCE ON|OFF    builds SOURCE with find_package (static: ON) and runs it
#   run.sh pc       PREFIX COMPILER SOURCE ON|OFF    the same with pkg-config
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "install test: $*" >&2
  exit 1
}

library() { find "$1" -name "$2" -not -path '*/cmake/*' | head -n 1; }

pkg() { PKG_CONFIG_PATH=$(dirname "$(library "$prefix" polykem.pc)") pkg-config "$@" polykem; }

# Runs the program and says whether it uses the library it was meant to use.
run_program() {
  local program=$1 static=$2 path= used
  if [[ $static == OFF ]]; then
    path=$libdir
  fi
  used=$(LD_LIBRARY_PATH=$path ldd "$program")
  if [[ $static == ON ]]; then
    [[ $used != *libpolykem* ]] || fail "it links the shared library, not the static one"
  else
    [[ $used == *"$libdir/libpolykem.so"* ]] || fail "it does not use $libdir"
  fi
  LD_LIBRARY_PATH=$path "$program"
}

install_tree() {
  rm -rf "$2"
  cmake --install "$1" --prefix "$2" >/dev/null
  local name
  for name in polykem.h polykem.hpp libpolykem.a libpolykem.so polykem.pc polykemConfig.cmake \
    polykemConfigVersion.cmake; do
    [[ -n $(find "$2" -name "$name") ]] || fail "$name is not installed"
  done
  [[ $(find "$2/include" -type f | wc -l) == 2 ]] || fail "more than two headers: $(find "$2/include" -type f)"
}

symbols() {
  local others
  nm -D --defined-only "$libdir/libpolykem.so" >"$scratch/symbols"
  grep -q ' T polykem_run' "$scratch/symbols" || fail "polykem_run is not exported"
  others=$(awk '{print $3}' "$scratch/symbols" | grep -v '^polykem_' || true)
  [[ -z $others ]] || fail "exported besides polykem_*: $others"
  # Every function of the header is there.
  local name
  for name in $(grep -o '\bpolykem_[a-z_]*(' "$prefix/include/polykem/polykem.h" | tr -d '(' | sort -u); do
    grep -q " T $name\$" "$scratch/symbols" || fail "$name is declared and not exported"
  done
  # And the library needs nothing but the C and C++ run time.
  others=$(readelf -d "$libdir/libpolykem.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -vE '^(libstdc\+\+|libm|libgcc_s|libc|libdl|libpthread|ld-linux.*)\.so' || true)
  [[ -z $others ]] || fail "the library needs $others"
}

with_cmake() {
  cmake -S "$here/consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" -DLANGUAGE="$1" -DSOURCE="$2" \
    -DSTATIC="$3" -DCMAKE_BUILD_TYPE=Release >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "configure"; }
  cmake --build "$scratch/build" >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "build"; }
  run_program "$scratch/build/consumer" "$3"
}

with_pkg_config() {
  local flags libs
  flags=$(pkg --cflags)
  if [[ $3 == ON ]]; then
    libs=$(pkg --static --libs | sed 's/-lpolykem/-l:libpolykem.a/')
  else
    libs=$(pkg --libs)
  fi
  # shellcheck disable=SC2086 # the flags are words
  "$1" -Wall -Wextra -Werror "$2" $flags $libs -o "$scratch/program"
  run_program "$scratch/program" "$3"
}

what=$1
shift
if [[ $what == install ]]; then
  install_tree "$1" "$2"
  exit
fi
prefix=$1
shift
if [[ $what == moved ]]; then
  cp -a "$prefix" "$scratch/elsewhere"
  prefix=$scratch/elsewhere
fi
libdir=$(dirname "$(library "$prefix" libpolykem.a)")
case "$what" in
  moved)
    with_pkg_config cc "$here/../../examples/batch.c" OFF
    with_cmake C "$here/../../examples/batch.c" OFF
    ;;
  symbols) symbols ;;
  cmake) with_cmake "$@" ;;
  pc) with_pkg_config "$@" ;;
  *) fail "unknown request '$what'" ;;
esac
