#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What tools/setup.sh says of machines that look like others: fake commands come first in PATH.
set -euo pipefail
setup=$(cd "$(dirname "$0")/../.." && pwd)/tools/setup.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"

fake() {
  printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}

# expect STATUS PATTERN WHAT: runs the check of $purpose on the fake machine; PATTERN is looked for in what it says.
purpose=peers
expect() {
  local status=0 said
  said=$(PATH="$scratch/bin:$PATH" POLYKEM_SETUP_ROOT="$scratch/root" LIBCLANG_PATH='' \
    "$setup" --check $purpose 2>&1) || status=$?
  [[ $status == "$1" && $said =~ $2 ]] || {
    echo "setup test: $3: status $status, expected $1 and '$2'; it said: $said" >&2
    exit 1
  }
  (($(wc -l <<<"$said") == 1)) || {
    echo "setup test: $3: more than one line: $said" >&2
    exit 1
  }
}

fake cmake true
fake make true
fake perl true
fake cargo 'echo "cargo 1.89.0 (c24e10642 2025-06-23)"'
fake rustc 'echo "rustc 1.89.0 (29483883e 2025-08-04)"'
fake ldconfig 'echo "	libclang-14.so.13 (libc6,x86-64) => /lib/libclang-14.so.13"'
expect 0 '^$' 'Cargo 1.89 and libclang by ldconfig'

fake ldconfig 'echo "	libclang-cpp.so.14 (libc6,x86-64) => /lib/libclang-cpp.so.14"'
expect 1 libclang-dev 'libclang-cpp is not libclang'
mkdir -p "$scratch/root/usr/lib/llvm-14/lib"
touch "$scratch/root/usr/lib/llvm-14/lib/libclang-cpp.so.14"
expect 1 libclang-dev 'nor is it in the folder of LLVM'
touch "$scratch/root/usr/lib/llvm-14/lib/libclang.so.1"
expect 0 '^$' 'libclang in the folder of LLVM'

fake perl false
expect 1 'perl$' 'Perl without the modules that building OpenSSL needs'
purpose=hw
expect 1 'perl( |$)' 'Perl without the modules that Verilator needs'
purpose=peers
fake perl true

fake rustc 'echo "rustc 1.63.0"'
fake cargo 'echo "cargo 1.65.0"'
expect 1 'Rust 1\.89.*1\.63.*rustup' 'a compiler that is too old'
fake rustc 'echo "rustc 1.89.0"'
fake cargo 'echo "cargo 1.89.0"'
expect 0 '^$' 'the oldest that will do'

for tool in ninja arm-none-eabi-g++ qemu-system-arm aarch64-linux-gnu-g++ qemu-aarch64; do fake $tool true; done
purpose="m4"
fake cc 'true'
expect 0 '^$' 'compilers and an emulator for the Cortex-M4'
for purpose in m4 arm64; do
  fake cc false
  expect 1 'libc6-dev( |$)' 'a C compiler without headers'
done

# The line now and then: the status of the command comes back, and its last words if it fails.
progress=$(dirname "$setup")/progress.sh
[[ -z $("$progress" "$scratch/log" echo "done") ]] || {
  echo "setup test: progress.sh shows the output of what succeeded" >&2
  exit 1
}
status=0
said=$("$progress" "$scratch/log" sh -c 'echo words; exit 3' 2>&1) || status=$?
[[ $status == 3 && $said == words ]] || {
  echo "setup test: progress.sh: status $status, it said '$said'" >&2
  exit 1
}
said=$(POLYKEM_PROGRESS_SECONDS=1 "$progress" "$scratch/log" sh -c 'echo halfway; sleep 2')
[[ $said =~ ^'  '[1-9][0-9]*' s: halfway' ]] || {
  echo "setup test: progress.sh is silent for two seconds, or says '$said'" >&2
  exit 1
}
