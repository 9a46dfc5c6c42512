#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what a purpose needs and this machine lacks, and nothing when nothing is lacking.
#
#   tools/setup.sh [--check] PURPOSE...      PURPOSE: demo | test | fuzz | lint | peers | cuda
#
# With --check it installs nothing. Where it may not install (no apt, no root, no password-less sudo) it says in one
# line what to install and exits with 1. What counts is that the tool or header is found, not which package it came in.
set -euo pipefail

check_only=no
if [[ "${1:-}" == --check ]]; then
  check_only=yes
  shift
fi

missing=()

need_command() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }

# need_headers HEADER PACKAGE ...: asks the C++ compiler, so that headers outside /usr/include count as well.
need_headers() {
  local probe='' answer
  if ! command -v g++ >/dev/null 2>&1 && ! command -v c++ >/dev/null 2>&1; then
    while (($#)); do
      missing+=("$2")
      shift 2
    done
    return
  fi
  while (($#)); do
    probe+="#if !__has_include(<$1>)"$'\n'"lacking $2"$'\n'"#endif"$'\n'
    shift 2
  done
  answer=$("$(command -v g++ || command -v c++)" -E -P -x c++ - <<<"$probe" | sed -n 's/^lacking //p' | tr -d ' ')
  [[ -z "$answer" ]] || mapfile -t -O "${#missing[@]}" missing <<<"$answer"
}

need_demo() {
  need_command cmake cmake
  need_command ninja ninja-build
  need_command g++ g++
  need_command pkg-config pkg-config
  need_headers CLI/CLI.hpp libcli11-dev fmt/core.h libfmt-dev nlohmann/json.hpp nlohmann-json3-dev \
    asio.hpp libasio-dev zlib.h zlib1g-dev openssl/evp.h libssl-dev
}

need_test() {
  need_demo
  need_command valgrind valgrind
  need_command python3 python3
  need_headers gtest/gtest.h libgtest-dev valgrind/memcheck.h valgrind
}

# The CUDA compiler's wheels go into an environment of their own.
need_cuda() {
  command -v nvcc >/dev/null 2>&1 || python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
}

# The peers come as Rust crates; one of them builds liboqs with CMake and reads its headers with libclang.
need_peers() {
  need_command cargo cargo
  need_command cmake cmake
  need_headers openssl/evp.h libssl-dev
  compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null || ldconfig -p | grep -q libclang || missing+=(libclang-dev)
}

# libFuzzer comes with clang's runtime, which some releases split off into a package of its own.
need_fuzz() {
  need_demo
  local clang version
  clang=$(compgen -c clang++ | grep -xE 'clang\+\+(-[0-9]+)?' | sort -V | head -n 1 || true)
  if [[ -z "$clang" ]] || ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }' |
    "$clang" -x c++ -fsanitize=fuzzer -o /dev/null - 2>/dev/null; then
    missing+=(clang)
    version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
    if [[ -n "$version" ]] && apt-cache show "libclang-rt-$version-dev" >/dev/null 2>&1; then
      missing+=("libclang-rt-$version-dev")
    fi
  fi
}

# One version for everybody: two versions of clang-format do not agree on every line.
need_lint() {
  need_demo
  need_command clang-format-14 clang-format-14
  need_command clang-tidy-14 clang-tidy-14
  need_command python3 python3
}

collect() {
  local purpose
  missing=()
  for purpose in "$@"; do
    case "$purpose" in
      demo | test | fuzz | lint | peers | cuda) "need_$purpose" ;;
      *)
        echo "setup: unknown purpose '$purpose' (demo, test, fuzz, lint, peers, cuda)" >&2
        exit 2
        ;;
    esac
  done
  if ((${#missing[@]})); then
    mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
  fi
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

may_install() {
  [[ $check_only == no ]] && command -v apt-get >/dev/null 2>&1 &&
    { [[ $(id -u) == 0 ]] || sudo -n true 2>/dev/null; }
}

give_up() {
  echo "polykem needs what is not here; install it and try again: sudo apt-get install -y ${missing[*]}" >&2
  exit 1
}

install_missing() {
  local log
  log=$(mktemp)
  echo "Installing with apt: ${missing[*]}"
  # A fresh machine has no package lists, and an old one stale lists: update, once, only when something is missing.
  if ! { as_root apt-get update -q && as_root apt-get install -y -q --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    rm -f "$log"
    give_up
  fi
  rm -f "$log"
}

(($#)) || set -- demo
collect "$@"
((${#missing[@]})) || exit 0
may_install || give_up
install_missing
collect "$@" # a second round: clang's runtime package is only known once the lists are there
((${#missing[@]})) || exit 0
install_missing
collect "$@"
((${#missing[@]} == 0)) || give_up
