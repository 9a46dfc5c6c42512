#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# trust.sh PROGRAM MODULE: which libpolykem_cuda.so a program that contains the library loads. PROGRAM:
# polykem_cuda_module_check; MODULE: the fake module. A stranger's module must not be loaded because argv[0] leads to
# it, nor, by a setuid program, because it lies beside the program or because an environment variable names it.
set -euo pipefail
program=$1 module=$2
unset POLYKEM_CUDA_MODULE

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir "$folder/empty" "$folder/strange"
cp "$program" "$folder/empty/program"
cp "$module" "$folder/strange/libpolykem_cuda.so"
export FAKE_CUDA=no_gpu # what the fake module says when it is loaded

fail() {
  echo "FAILED: $*"
  exit 1
}

# says PROGRAM...: what the library says of the backend cuda.
says() { (exec "$@" backend 2>&1) || true; }

[[ $(POLYKEM_CUDA_MODULE="$folder/strange/libpolykem_cuda.so" says "$folder/empty/program") == *simulated* ]] ||
  fail "the fake module does not load at all: this test could not fail"
cp "$program" "$folder/strange/program"
[[ $(says "$folder/strange/program") == *simulated* ]] || fail "an ordinary program looks beside itself"

[[ $(says -a "$folder/strange/program" "$folder/empty/program") != *simulated* ]] || fail "argv[0] chose the module"

if [[ $(id -u) != 0 ]]; then
  echo "the setuid part is skipped: only root can make a program that belongs to another user"
  exit 0
fi
for place in empty strange; do
  chown 54321 "$folder/$place/program"
  chmod 4755 "$folder/$place/program"
done
[[ $(says "$folder/strange/program") != *simulated* ]] || fail "a setuid program loaded the module beside it"
[[ $(POLYKEM_CUDA_MODULE="$folder/strange/libpolykem_cuda.so" says "$folder/empty/program") != *simulated* ]] ||
  fail "a setuid program loaded the module that its user named"
