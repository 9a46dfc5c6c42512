#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs Debian packages into bare systems and uses them as debian/tests does; upgrades and removes them in a system
# that systemd has booted. Needs root.
#
#   tests/package/deb.sh FOLDER SYSTEM...     FOLDER/SYSTEM holds what tools/package/deb.sh built
#
# Packages for arm64 run under QEMU, where systemd does not boot: they are installed, used and removed.
set -euo pipefail
source_tree=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tools/package/root.sh
source "$source_tree/tools/package/root.sh"

fail() {
  echo "package test: $*" >&2
  exit 1
}

(($# >= 2)) || fail "usage: tests/package/deb.sh FOLDER SYSTEM..."
[[ $(id -u) == 0 ]] || fail "needs root, to make systems of their own"
built=$(cd "$1" && pwd)
shift
scratch=$(mktemp -d)
readonly formats=/proc/sys/fs/binfmt_misc
mounted=no registered=no
finish() {
  rm -rf --one-file-system "$scratch"
  [[ $registered == no ]] || echo -1 >"$formats/qemu-aarch64"
  [[ $mounted == no ]] || umount "$formats"
}
trap finish EXIT

# apt WORD...: apt-get there, whose shell expands patterns of files.
apt() {
  in_root "$root" sh -c "apt-get -qq -y --no-install-recommends $*" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" && fail "$suite: apt-get $*"; }
}

# packages STATUS: those of polykem, one a line; "ii" are installed, "rc" removed but for their configuration.
packages() {
  in_root "$root" dpkg-query -W -f "\${db:Status-Abbrev} \${Package} \${Version}\n" '*polykem*' | sed -n "s/^$1  *//p"
}

# run_test NAME WORD...: a test of debian/tests.
run_test() {
  echo "$suite: $*"
  in_root "$root" sh -c "cd /tests && debian/tests/$*" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" && fail "$suite: $1"; }
}

# A client in Go, which knows X25519MLKEM768 from 1.24 on. Debian 13 has that.
make_go_client() {
  local go suite=trixie root=$scratch/go
  if go=$(command -v go) && printf 'go1.24\n%s\n' "$("$go" env GOVERSION)" | sort --version-sort --check=quiet; then
    (cd "$source_tree/tests/tls/go" && CGO_ENABLED=0 "$go" build -o "$scratch/go-client" .)
    return
  fi
  echo "Go of Debian 13, for a client"
  make_root "$root" "$suite" --variant=apt
  cp -r "$source_tree/tests/tls/go" "$root/client"
  apt update
  apt install golang-go
  in_root "$root" sh -c 'cd /client && CGO_ENABLED=0 go build -o client .'
  mv "$root/client/client" "$scratch/go-client"
  rm -rf --one-file-system "$root"
}

# older FROM TO: the same packages under the version that came before this one, with other settings.
older() {
  local file tree
  for file in "$1"/*.deb; do
    tree=$scratch/unpacked
    rm -rf "$tree"
    dpkg-deb -R "$file" "$tree"
    sed -i "s/$version/&~older/g" "$tree/DEBIAN/control"
    [[ ! -e $tree/etc/polykem/polykemd.conf ]] || echo "# older" >>"$tree/etc/polykem/polykemd.conf"
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

# An administrator's keys, before an upgrade and after it. The settings are those of the page about polykemd.
make_keys() {
  in_root "$root" sh -c 'umask 077 && mkdir /var/lib/polykem && cd /var/lib/polykem &&
    polykem keygen --quiet --scheme mlkem768 --pk /etc/polykem/pk --sk sk'
  cat "$root/etc/polykem/pk" "$root/var/lib/polykem/sk" >"$scratch/keys"
}

kept() {
  cat "$root/etc/polykem/pk" "$root/var/lib/polykem/sk" | cmp - "$scratch/keys" || fail "$suite: $1 changes keys"
  [[ $(<"$root/etc/polykem/polykemd.conf") == 'allow-gid = www-data' ]] || fail "$suite: $1 changes settings"
}

# boot COMMAND: systemd runs it in the system, which has a network of its own, and ends with its status.
boot() {
  cat >"$root/etc/systemd/system/package-test.service" <<END
[Unit]
SuccessAction=exit
FailureAction=exit
[Service]
Type=exec
ExecStart=$1
StandardOutput=file:/tests/log
Environment=HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
RuntimeMaxSec=1200
[Install]
WantedBy=multi-user.target
END
  in_root "$root" systemctl --quiet enable package-test.service
  rm "$root/usr/sbin/policy-rc.d"
  # The newer hierarchy of control groups alone, as in Debian, where the host has the older one too.
  SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn --quiet --directory "$root" --machine polykem-test --register=no \
    --keep-unit --private-network --resolv-conf=off --link-journal=no --settings=no --console=pipe --boot \
    </dev/null >"$scratch/log" 2>&1 || { tail "$scratch/log" && cat "$root/tests/log" && fail "$suite: $1"; }
  rm "$root/etc/systemd/system/package-test.service" "$root"/etc/systemd/system/*.wants/package-test.service
}

test_upgrade() {
  mkdir "$root/older"
  older "$root/packages" "$root/older"
  apt install /older/*.deb
  make_keys
  boot /tests/tests/package/booted.sh
  [[ $(packages ii | grep -v '^polykem-tools ' | cut -d ' ' -f 2 | sort -u) == "$version" ]] ||
    fail "$suite: the upgrade leaves $(packages ii)"
  apt remove "'*polykem*'"
  kept "an upgrade or a removal"
}

test_purge() {
  local left
  rm -rf "$root/packages" "$root/older" "$root/tests" "$root/etc/polykem/pk" "$root/var/lib/polykem"
  apt purge "'*polykem*'"
  left=$(find "$root" -xdev -path "$root/proc" -prune -o -name '*polykem*' -print)
  [[ -z $left ]] || fail "$suite: what is left: $left"
}

# make_bare ROOT: a bare system of the suite; the kernel hands programs for arm64 to QEMU.
make_bare() {
  local options=(--variant=apt)
  if [[ $emulated == yes ]]; then
    options+=(--architectures=arm64)
    if [[ ! -e $formats/register ]]; then
      mount -t binfmt_misc binfmt_misc "$formats"
      mounted=yes
    fi
    if [[ ! -e $formats/qemu-aarch64 ]]; then
      cat /usr/lib/binfmt.d/qemu-aarch64*.conf >"$formats/register"
      registered=yes
    fi
    grep -q '^flags:.*F' "$formats/qemu-aarch64" || fail "install qemu-user-static, whose programs run in other systems"
  fi
  make_root "$1" "${suite%-arm64}" "${options[@]}"
}

make_go_client
for suite in "$@"; do
  [[ -d $built/$suite ]] || fail "no packages for $suite in $built"
  emulated=no
  [[ $suite != *-arm64 || $(dpkg --print-architecture) == arm64 ]] || emulated=yes
  root=$scratch/bare
  echo "$suite: a bare system"
  make_bare "$root"
  mkdir "$root/packages" "$root/tests"
  find "$built/$suite" -name '*.deb' ! -name '*-dbgsym_*' -exec cp {} "$root/packages/" \;
  version=$(dpkg-deb -f "$root"/packages/libpolykem0*.deb Version)
  git -C "$source_tree" archive HEAD debian/tests tests/package tests/provider/openssl.sh examples |
    tar -x -C "$root/tests"
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
  run_test program
  if [[ $emulated == no ]]; then run_test daemon; else run_test daemon 30; fi
  run_test provider
  run_test python
  apt install curl haproxy procps # HAProxy's unit needs kill
  if [[ $emulated == no ]]; then
    cp "$scratch/go-client" "$root/tests/"
    run_test haproxy /tests/go-client
  else
    run_test haproxy
  fi
  installed_files
  if [[ $emulated == no ]]; then
    echo "$suite: an upgrade, a removal"
    apt purge "'*polykem*'"
    test_upgrade
  fi
  test_purge
  rm -rf --one-file-system "$root"
done
