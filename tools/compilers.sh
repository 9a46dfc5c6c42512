#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compiles libraries, programs and benchmarks with the oldest and the newest GCC and Clang found here, with warnings as
# errors, and the tests with the newest Clang: GCC compiles them in `make test`. Each has a folder in build-compilers/.
#
#   tools/compilers.sh [COMPILER...]      g++-11, for example: these instead, the tests with the last one
#   tools/compilers.sh --suite SUITE COMPILER...
#       what is committed, with those of another Debian or Ubuntu, in a system of its own, which needs root
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
launcher=()
if command -v ccache >/dev/null 2>&1; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

# ends NAME: of the programs NAME-VERSION the one of the lowest version and the one of the highest.
ends() { compgen -c "$1-" | grep -xE "${1//+/[+]}-[0-9]+" | sort -u -V | sed -n '1p;$p' | uniq; }

# compile COMPILER TESTS: with that one and the C compiler beside it.
compile() {
  local dir=build-compilers/$1 c=${1/clang++/clang}
  mkdir -p "$dir"
  cmake --preset compilers -B "$dir" "${launcher[@]}" -DPOLYKEM_BUILD_TESTS="$2" -DCMAKE_CXX_COMPILER="$1" \
    -DCMAKE_C_COMPILER="${c/g++/gcc}" >"$dir/log" 2>&1 && cmake --build "$dir" -j "$jobs" -- -k 0 >>"$dir/log" 2>&1
}

# elsewhere SUITE COMPILER...: this script, in a new system of that suite.
elsewhere() {
  local suite=$1 status=0
  shift
  # shellcheck source=tools/package/root.sh
  source tools/package/root.sh
  root=$(mktemp -d)
  trap 'rm -rf --one-file-system "$root"' EXIT
  make_root "$root" "$suite" --variant=apt && mkdir "$root/polykem" && git archive HEAD | tar -x -C "$root/polykem" &&
    in_root "$root" apt-get -qq update &&
    in_root "$root" apt-get -qq -y --no-install-recommends install "${@/clang++/clang}" >"$root/log" 2>&1 &&
    in_root "$root" sh -c 'cd /polykem && tools/setup.sh test >/dev/null && exec tools/compilers.sh "$@"' sh "$@" ||
    status=1
  if [[ $status != 0 ]]; then
    tail -n 5 "$root/log" >&2
    mkdir -p build-compilers && cp -r "$root"/polykem/build-compilers/. build-compilers/ 2>/dev/null
  fi
  return $status
}

if [[ ${1:-} == --suite ]]; then
  elsewhere "${@:2}"
  exit
fi
compilers=("$@")
((${#compilers[@]})) || mapfile -t compilers < <(ends g++ && ends clang++)
((${#compilers[@]})) || {
  echo 'compilers: there is no g++-VERSION and no clang++-VERSION here' >&2
  exit 1
}
echo "compilers: ${compilers[*]}"
failed=0 tests=OFF
for compiler in "${compilers[@]}"; do
  [[ $compiler != "${compilers[-1]}" ]] || tests=ON
  if compile "$compiler" "$tests"; then
    echo "$compiler: no warning ($("$compiler" --version | head -n 1))"
  else
    failed=1
    echo "$compiler: warnings or errors; the whole output is build-compilers/$compiler/log"
    grep -E '(warning|error): |CMake Error' "build-compilers/$compiler/log" | sort -u | head -n 20
  fi
done
exit $failed
