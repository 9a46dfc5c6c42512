#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# secure_mode.sh PROGRAM mask|backend: a setuid copy of PROGRAM must ignore what its user puts in the environment, and
# PROGRAM itself must not. Exits with 77 where that cannot be tested.
set -euo pipefail
program=$1 what=$2

if [[ $(id -u) != 0 ]]; then
  echo "skipped: only root can make a program that belongs to another user"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cp "$program" "$folder/program"
chown 54321 "$folder/program"
chmod 4755 "$folder/program"
if ! "$folder/program" | grep -qx 'secure=1'; then
  echo "skipped: setuid programs have no effect in $folder"
  exit 77
fi

case $what in
  mask) variable=POLYKEM_CPU_MASK=avx2 line='^features=.* avx2 ' ;;
  backend) variable=POLYKEM_BACKEND=ref line='^backend=[^r]' ;;
esac
if ! "$program" | grep -q "$line"; then
  echo "skipped: this CPU has no AVX2"
  exit 77
fi
if env "$variable" "$program" | grep -q "$line"; then
  echo "$variable has no effect on an ordinary program"
  exit 1
fi
if ! env "$variable" "$folder/program" | grep -q "$line"; then
  echo "$variable reaches a setuid program:"
  env "$variable" "$folder/program"
  exit 1
fi
