#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# openssl35.sh [--built]: prints the folder of an OpenSSL 3.5 (bin/openssl, include, lib with shared libraries), which
# it builds the first time, but for --built: some CPU minutes. Ends with 77 where that is not possible, and says why on
# standard error.
#
# The source (Apache-2.0) is the one that the crate openssl-src (MIT or Apache-2.0) of crates.io carries. The result
# stays in ~/.cache/polykem, or in XDG_CACHE_HOME or POLYKEM_CACHE if those are set.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

crate=openssl-src-300.5.5+3.5.5
sha256=3f1787d533e03597a7934fd0a765f0d28e94ecc5fb7789f8053b1e699a56f709
cache=${POLYKEM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/polykem}
prefix=$cache/openssl-3.5.5-whole

give_up() {
  echo "no OpenSSL 3.5: $1" >&2
  exit 77
}

# fetch FILE: the crate, checked.
fetch() {
  curl --fail --silent --location --output "$1" \
    "https://static.crates.io/crates/openssl-src/${crate/+/%2B}.crate" || give_up "crates.io cannot be reached"
  echo "$sha256  $1" | sha256sum --check --quiet - >&2 || give_up "what crates.io sent is another file"
}

# build FOLDER: configures, compiles and installs the source in FOLDER, whole: Debian's servers, which were linked to
# OpenSSL 3.0, shall run with it too.
build() {
  cp "$here/version_script.pl" "$1/util/mkdef.pl"
  cd "$1"
  ./Configure --prefix="$prefix" --openssldir="$prefix/ssl" --libdir=lib "-Wl,-rpath,$prefix/lib" shared \
    no-tests no-docs no-legacy
  nice make -j "${JOBS:-$(nproc)}" build_sw
  make install_sw
}

exec 3>&1 >&2 # from here on everything that is printed is for people
if [[ ! -x $prefix/bin/openssl ]]; then
  [[ ${1:-} != --built ]] || give_up "it has not been built"
  for tool in curl perl make cc flock; do
    command -v "$tool" >/dev/null || give_up "there is no $tool"
  done
  mkdir -p "$cache"
  exec 9>"$cache/openssl.lock"
  flock 9
  if [[ ! -x $prefix/bin/openssl ]]; then
    work=$(mktemp -d "$cache/openssl.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    fetch "$work/crate.tar.gz"
    tar -xzf "$work/crate.tar.gz" -C "$work"
    (build "$work/$crate/openssl") >"$cache/openssl.log" 2>&1 ||
      give_up "it does not build; $cache/openssl.log has the reason"
  fi
fi
echo "$prefix" >&3
