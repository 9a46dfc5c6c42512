#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Uses an installed polykem from outside the tree.
#
#   run.sh install  BUILD PREFIX LIST...             installs BUILD into PREFIX, and each component by itself; what
#                                                    arrived is what the lists say
#   run.sh moved    PREFIX                           the tree still works after it was moved
#   run.sh symbols  PREFIX [--update]                the shared library exports what symbols.txt lists and nothing else
#   run.sh symbols-ckks PREFIX [--update]            the same of CKKS's
#   run.sh versions PREFIX VERSION                   every part of the package says the same version
#   run.sh hardened PREFIX                           library and program are built as cmake/hardening.cmake says
#   run.sh cmake    PREFIX LANGUAGE SOURCE ON|OFF    builds SOURCE with find_package (static: ON) and runs it
#   run.sh subproject BUILD LANGUAGES add|fetch      builds it within the project of parent/, in BUILD
#   run.sh pc       PREFIX COMPILER SOURCE ON|OFF    the same with pkg-config
#   run.sh go       PREFIX                           tests and runs examples/go; 77 where there is no Go
#   run.sh rust     PREFIX                           the same of examples/rust
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "install test: $*" >&2
  exit 1
}

skip() {
  echo "install test: $*" >&2
  exit 77
}

library() { find "$1" -name "$2" -not -path '*/cmake/*' | head -n 1; }

pkg() { PKG_CONFIG_PATH=$(dirname "$(library "$prefix" polykem.pc)") pkg-config "$@" polykem; }

# Runs the program and says whether it uses the library it was meant to use.
run_program() {
  local program=$1 static=$2 path='' used
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

# has_what_is_listed TREE PATTERN...: files and patterns, of which those that begin with "?" may be missing.
has_what_is_listed() {
  local tree=$1 file pattern found
  shift
  find "$tree" -type f -printf '%P\n' -o -type l -printf '%P\n' >"$scratch/files"
  while read -r file; do
    found=no
    for pattern in "${@#\?}"; do
      # shellcheck disable=SC2053 # the right side is a pattern
      [[ $file != $pattern ]] || found=yes
    done
    [[ $found == yes ]] || fail "$file is in $tree, and no list of installed files has it there"
  done <"$scratch/files"
  for pattern in "$@"; do
    [[ $pattern == \?* ]] || compgen -G "$tree/$pattern" >/dev/null || fail "$pattern is not in $tree"
  done
}

# The whole, and each component by itself.
install_tree() {
  rm -rf "$2"
  cmake --install "$1" --prefix "$2" >/dev/null
  local component patterns
  mapfile -t patterns < <(sed -n 's/^[a-z][a-z]*  *//p' "${@:3}")
  has_what_is_listed "$2" "${patterns[@]}"
  for component in $(sed -n 's/^\([a-z][a-z]*\) .*/\1/p' "${@:3}" | sort -u); do
    mkdir "$scratch/$component"
    cmake --install "$1" --prefix "$scratch/$component" --component "$component" >/dev/null
    mapfile -t patterns < <(sed -n "s/^$component  *//p" "${@:3}")
    has_what_is_listed "$scratch/$component" "${patterns[@]}"
  done
  python3 -B "$here/../../tools/lint.py" --links "$2"
}

symbols_of() {
  local library=$libdir/$1 list=$2 header=$prefix/include/polykem/$3 others name
  nm -D --defined-only --without-symbol-versions "$library" | grep -v ' A ' >"$scratch/symbols"
  nm -D --defined-only --with-symbol-versions "$library" | awk '{print $3}' | LC_ALL=C sort >"$scratch/list"
  if [[ ${4:-} == --update ]]; then
    cp "$scratch/list" "$list"
  fi
  diff "$list" "$scratch/list" ||
    fail "the exported symbols are not those of $list; docs/versions.md says what to do"
  # Every function of the header is there.
  for name in $(grep -o '\bpolykem_[a-z_]*(' "$header" | tr -d '(' | sort -u); do
    grep -q " T $name\$" "$scratch/symbols" || fail "$name is declared and not exported"
  done
  # And the library needs nothing but the C and C++ run time.
  others=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -vE '^(libstdc\+\+|libm|libgcc_s|libc|libdl|libpthread|ld-linux.*)\.so' || true)
  [[ -z $others ]] || fail "$1 needs $others"
}

versions() {
  local version=$1 series=${1%.*} soname
  [[ $version == 0.* ]] || series=${1%%.*}
  soname=$(readelf -d "$libdir/libpolykem.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  [[ $soname == "libpolykem.so.$series" ]] || fail "the SONAME is $soname, not libpolykem.so.$series"
  [[ $(realpath "$libdir/$soname") == "$libdir/libpolykem.so.$version" ]] || fail "$soname is another file"
  [[ $(pkg --modversion) == "$version" ]] || fail "pkg-config says $(pkg --modversion)"
  [[ $(grep -c -v "@@POLYKEM_$series\$" "$here/symbols.txt") == 1 ]] || fail "a symbol has another version"
  grep -qx "POLYKEM_$series" "$here/symbols.txt" || fail "there is no version POLYKEM_$series"
  cat >"$scratch/version.c" <<<'#include <polykem/polykem.h>
#include <stdio.h>
int main(void) {
  printf("%d.%d.%d %s\n", POLYKEM_VERSION_MAJOR, POLYKEM_VERSION_MINOR, POLYKEM_VERSION_PATCH, polykem_version());
}'
  # shellcheck disable=SC2046 # the flags are words
  cc "$scratch/version.c" $(pkg --cflags --libs) -o "$scratch/version"
  [[ $(LD_LIBRARY_PATH=$libdir "$scratch/version") == "$version $version" ]] || fail "the header has another version"
  [[ $("$prefix/bin/polykem" --version) == *"$version"* ]] || fail "the program has another version"
  grep -q "^## \[$version\]" "$prefix/share/doc/polykem/CHANGELOG.md" || fail "CHANGELOG.md has no $version"
  found_by_cmake "$series" || fail "find_package does not take $series"
  if found_by_cmake "$((${series%%.*} + 1))" || found_by_cmake "${series%%.*}.999"; then
    fail "find_package takes another series for this one"
  fi
}

# found_by_cmake VERSION: whether find_package takes what is installed for that version.
found_by_cmake() {
  rm -rf "$scratch/find"
  mkdir "$scratch/find"
  printf 'cmake_minimum_required(VERSION 3.22)\nproject(find C)\nfind_package(polykem %s REQUIRED)\n' "$1" \
    >"$scratch/find/CMakeLists.txt"
  cmake -S "$scratch/find" -B "$scratch/find/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null 2>&1
}

hardened() {
  local file sections
  for file in "$libdir"/libpolykem*.so "$prefix/bin/polykem"; do
    sections=$(readelf -W --dynamic --segments --dyn-syms "$file")
    [[ $sections =~ FLAGS.*NOW ]] || fail "$file binds lazily (-z now)"
    [[ $sections == *GNU_RELRO* ]] || fail "$file has no read-only relocations (-z relro)"
    [[ $sections != *'GNU_STACK'*RWE* ]] || fail "the stack of $file is executable"
    # Verilator compiles the core's simulation.
    [[ $sections == *__stack_chk_fail* || $file == *_rtl.so ]] || fail "$file has no stack protector"
    [[ $(readelf -hW "$file") =~ Type:\ +DYN ]] || fail "$file has a fixed address"
  done
  [[ $sections == *__memcpy_chk* ]] || fail "the program is built without FORTIFY"
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

# in_copy FOLDER: changes to a copy of an example, whose programs find the library.
in_copy() {
  cp -a "$here/../../examples/$1" "$scratch/$1"
  cd "$scratch/$1"
  export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
}

with_go() {
  command -v go >/dev/null || skip "no Go here"
  in_copy go
  export GOFLAGS=-mod=mod GOTOOLCHAIN=local
  [[ -z $(gofmt -l .) ]] || fail "gofmt changes examples/go"
  go vet ./... && go test ./... && go run .
}

with_rust() {
  command -v cargo >/dev/null || skip "no Rust here"
  in_copy rust
  cargo test --quiet --offline --locked && cargo run --quiet --offline --locked
}

# The libraries that need least time to build: nothing of the vector code, not optimised.
subproject() {
  cmake -S "$here/parent" -B "$1" -DLANGUAGES="${2//,/;}" -DHOW="$3" -DCMAKE_BUILD_TYPE=Debug -DPOLYKEM_VECTORS=none \
    -DPOLYKEM_HARDENING=OFF >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "configure"; }
  cmake --build "$1" --parallel 2 >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log" && fail "build"; }
  local program
  for program in "$1"/consumer_*; do
    "$program" >"$scratch/log" || fail "$program"
  done
  [[ ! -e $1/bin ]] || fail "it puts programs into the other project's bin/"
  cmake --install "$1" --prefix "$scratch/prefix" >/dev/null
  [[ $(cd "$scratch/prefix" && find . -type f) == ./bin/consumer_polykem ]] ||
    fail "it installs what is not the project's"
}

what=$1
shift
if [[ $what == subproject ]]; then
  subproject "$@"
  exit
fi
if [[ $what == install ]]; then
  install_tree "$@"
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
  symbols) symbols_of libpolykem.so "$here/symbols.txt" polykem.h "$@" ;;
  symbols-ckks) symbols_of libpolykem_ckks.so "$here/../../ckks/tests/install/symbols.txt" ckks.h "$@" ;;
  versions) versions "$@" ;;
  hardened) hardened ;;
  cmake) with_cmake "$@" ;;
  pc) with_pkg_config "$@" ;;
  go) with_go ;;
  rust) with_rust ;;
  *) fail "unknown request '$what'" ;;
esac
