#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# openssl35_wheel.sh: prints a folder like that of openssl35.sh, in seconds: lib/libssl.so.3 and libcrypto.so.3 are
# those of OpenSSL 3.5 (Apache-2.0) that the wheel psycopg2-binary of PyPI carries, and bin/openssl is this system's
# program, which runs with them; it lacks the options that are new in 3.5. Ends with 77 where that is not possible, and
# says why on standard error.
#
# The folder is in ~/.cache/polykem, or in XDG_CACHE_HOME or POLYKEM_CACHE if those are set.
set -euo pipefail

wheel=psycopg2-binary==2.9.13
cache=${POLYKEM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/polykem}
prefix=$cache/openssl-3.5-of-$wheel

give_up() {
  echo "no OpenSSL 3.5: $1" >&2
  exit 77
}

# install FOLDER: makes it. The wheel of one Python version is like that of another.
install() {
  python3 -m venv "$1/venv" >&2 || give_up "there is no python3-venv"
  "$1/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.11 \
    --platform "manylinux2014_$(uname -m)" --dest "$1/wheel" "$wheel" >&2 ||
    give_up "$wheel cannot be downloaded (is there a network?)"
  python3 -m zipfile -e "$1"/wheel/*.whl "$1/wheel"
  mkdir "$1/bin" "$1/lib"
  ln -s "$(command -v openssl)" "$1/bin/openssl"
  for name in ssl crypto; do # the names have a checksum in them, by which libssl finds libcrypto
    ln -s "$(basename "$1"/wheel/*.libs/lib$name-*.so.3)" "$1/lib/lib$name.so.3"
    mv "$1"/wheel/*.libs/lib$name-*.so.3 "$1/lib/"
  done
  rm -r "$1/wheel" "$1/venv"
  LD_LIBRARY_PATH=$1/lib "$1/bin/openssl" version | grep -q "Library: OpenSSL 3[.][5-9]" ||
    give_up "the program openssl does not run with that of $wheel"
}

for tool in openssl python3 flock; do
  command -v "$tool" >/dev/null || give_up "there is no $tool"
done
mkdir -p "$cache"
exec 9>"$cache/openssl-wheel.lock"
flock 9
if [[ ! -x $prefix/bin/openssl ]]; then
  work=$(mktemp -d "$cache/openssl.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  install "$work"
  chmod 755 "$work"
  rm -rf "$prefix"
  mv "$work" "$prefix"
fi
echo "$prefix"
