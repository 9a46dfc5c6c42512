#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs Debian packages into bare systems, uses them as debian/tests does, upgrades and removes them. Needs root.
#
#   tests/package/deb.sh FOLDER SUITE...      FOLDER/SUITE holds what tools/package/deb.sh built
set -euo pipefail
source_tree=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tools/package/root.sh
source "$source_tree/tools/package/root.sh"

fail() {
  echo "package test: $*" >&2
  exit 1
}

(($# >= 2)) || fail "usage: tests/package/deb.sh FOLDER SUITE..."
[[ $(id -u) == 0 ]] || fail "needs root, to make systems of their own"
built=$(cd "$1" && pwd)
shift
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT

# apt WORD...: apt-get there, whose shell expands patterns of files.
apt() {
  in_root "$root" sh -c "apt-get -qq -y --no-install-recommends $*" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" && fail "$suite: apt-get $*"; }
}

# packages STATUS: those of polykem, one a line; "ii" are installed, "rc" removed but for their configuration.
packages() {
  in_root "$root" dpkg-query -W -f "\${db:Status-Abbrev} \${Package} \${Version}\n" '*polykem*' | sed -n "s/^$1  *//p"
}

# run_test NAME: a test of debian/tests.
run_test() {
  echo "$suite: $1"
  in_root "$root" sh -c "cd /tests && debian/tests/$1" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" && fail "$suite: $1"; }
}

# older FROM TO: the same packages under the version that came before this one.
older() {
  local file tree
  for file in "$1"/*.deb; do
    tree=$scratch/unpacked
    rm -rf "$tree"
    dpkg-deb -R "$file" "$tree"
    sed -i "s/$version/$version~older/" "$tree/DEBIAN/control"
    dpkg-deb -Znone -b "$tree" "$2/${file##*/}" >"$scratch/log"
  done
}

# What a bare system has no compiler for is compiled in a second one.
test_development() {
  local program=$1/program root=$scratch/development
  cp -a "$scratch/bare" "$root"
  apt install gcc libc6-dev pkg-config /packages/libpolykem0*.deb /packages/libpolykem-dev_*.deb
  run_test library
  in_root "$root" cc /tests/examples/batch.c -lpolykem -o /tests/program
  mv "$root/tests/program" "$program"
  rm -rf --one-file-system "$root"
}

installed_files() {
  local page
  for page in man1/polykem.1 man1/polykem-tls-check.1 man8/polykemd.8; do
    [[ -s $root/usr/share/man/$page.gz ]] || fail "$suite: there is no $page"
  done
  [[ -s $root/usr/share/doc/polykem-doc/docs/tls.md ]] || fail "$suite: there is no documentation"
  python3 -B "$source_tree/tools/lint.py" --links "$root/usr/share/doc/polykem-doc"
  in_root "$root" polykemd --check >"$scratch/log" || { cat "$scratch/log" && fail "$suite: polykemd --check"; }
  in_root "$root" systemd-analyze verify --man=no polykemd.service polykemd.socket
  [[ -L $root/etc/systemd/system/sockets.target.wants/polykemd.socket ]] || fail "$suite: the socket is not enabled"
  grep -q '^polykemd:' "$root/etc/passwd" || fail "$suite: there is no user polykemd"
}

# An administrator's settings and keys, before an upgrade and after it.
administer() {
  echo 'clients = 3' >"$root/etc/polykem/polykemd.conf"
  in_root "$root" sh -c 'umask 077 && mkdir /var/lib/polykem && cd /var/lib/polykem &&
    polykem keygen --quiet --scheme mlkem768 --pk /etc/polykem/pk --sk sk'
  cat "$root/etc/polykem/polykemd.conf" "$root/etc/polykem/pk" "$root/var/lib/polykem/sk" >"$scratch/settings"
}

kept() {
  cat "$root/etc/polykem/polykemd.conf" "$root/etc/polykem/pk" "$root/var/lib/polykem/sk" | cmp - "$scratch/settings" ||
    fail "$suite: $1 changes an administrator's files"
}

test_upgrade() {
  mkdir "$root/older"
  older "$root/packages" "$root/older"
  apt install /older/*.deb
  administer
  apt install /packages/*.deb
  [[ $(packages ii | cut -d ' ' -f 2 | sort -u) == "$version" ]] || fail "$suite: the upgrade leaves $(packages ii)"
  kept "an upgrade"
  apt remove "'*polykem*'"
  kept "a removal"
}

test_purge() {
  local left
  rm -r "$root/packages" "$root/older" "$root/tests" "$root/etc/polykem/pk" "$root/var/lib/polykem"
  mkdir -p "$root/var/cache/private/polykem" # as systemd makes it
  apt purge "'*polykem*'"
  left=$(find "$root" -xdev -path "$root/proc" -prune -o -name '*polykem*' -print)
  [[ -z $left ]] || fail "$suite: what is left: $left"
}

for suite in "$@"; do
  [[ -d $built/$suite ]] || fail "no packages for $suite in $built"
  root=$scratch/bare
  echo "$suite: a bare system"
  make_root "$root" "$suite" --variant=apt
  mkdir "$root/packages" "$root/tests"
  find "$built/$suite" -name '*.deb' ! -name '*-dbgsym_*' -exec cp {} "$root/packages/" \;
  version=$(dpkg-deb -f "$root"/packages/libpolykem0*.deb Version)
  git -C "$source_tree" archive HEAD debian/tests tests/provider/openssl.sh examples | tar -x -C "$root/tests"
  in_root "$root" apt-get -qq update
  test_development "$scratch"
  root=$scratch/bare
  apt install /packages/libpolykem0*.deb
  if in_root "$root" sh -c 'command -v cc gcc make'; then
    fail "$suite: a bare system has build tools"
  fi
  echo "$suite: a C program with the library alone"
  cp "$scratch/program" "$root/tests/program"
  in_root "$root" /tests/program >"$scratch/log" || fail "$suite: the C program"
  apt install openssl /packages/*.deb
  for name in program daemon provider python; do
    run_test "$name"
  done
  installed_files
  apt purge "'*polykem*'"
  echo "$suite: an upgrade, a removal"
  test_upgrade
  test_purge
  rm -rf --one-file-system "$root"
done
