#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# trust.sh PROGRAM MODULE: which libpolykem_cuda.so a program that contains the library loads. PROGRAM:
# polykem_cuda_module_check; MODULE: the fake module. A stranger's module must not be loaded because argv[0] leads to
# it, nor, by a setuid program, because it lies beside the program or because an environment variable names it. One that
# another user or a group could have put there is loaded only if the variable names it.
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

# refused WHY: the module beside the program is not loaded, and the answer says how to load it nevertheless.
refused() {
  local answer
  answer=$(says "$folder/strange/program")
  [[ $answer != *simulated* ]] || fail "$1: its module was loaded"
  [[ $answer == *"is not loaded"*POLYKEM_CUDA_MODULE* ]] || fail "$1: the answer is '$answer'"
}
for mode in g+w o+w; do
  for place in strange/libpolykem_cuda.so strange .; do
    before=$(stat -c %a "$folder/$place")
    chmod "$mode" "$folder/$place"
    refused "$place with $mode"
    [[ $(POLYKEM_CUDA_MODULE="$folder/strange/libpolykem_cuda.so" says "$folder/strange/program") == *simulated* ]] ||
      fail "$place with $mode: the variable does not help"
    chmod "$before" "$folder/$place"
  done
done
chmod 1777 "$folder"
[[ $(says "$folder/strange/program") == *simulated* ]] || fail "a folder with the sticky bit keeps other users out"
chmod 755 "$folder"
mkdir "$folder/shared"
mv "$folder/strange/libpolykem_cuda.so" "$folder/shared/"
ln -s ../shared/libpolykem_cuda.so "$folder/strange/"
[[ $(says "$folder/strange/program") == *simulated* ]] || fail "a link to a trusted file"
chmod g+w "$folder/shared"
refused "a link into a folder that a group can write"
chmod 755 "$folder/shared"
for mode in g+w 1777; do
  chmod "$mode" "$folder/strange"
  refused "a link in a folder with $mode"
  chmod 755 "$folder/strange"
done
rm "$folder/strange/libpolykem_cuda.so"
mv "$folder/shared/libpolykem_cuda.so" "$folder/strange/"

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
