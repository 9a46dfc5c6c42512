#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Boots Debian 12's packages on Linux 5.10, that of Debian 11, and uses them there as debian/tests does. Needs root.
#
#   tests/package/old_kernel.sh FOLDER        FOLDER holds what tools/package/deb.sh built for bookworm
#
# QEMU emulates the machine, with AVX2 and without AVX-512: some ten minutes. QEMU 7.2 computes the upper half of VAES's
# 256-bit rounds wrongly, as polykem's self-test finds, so the machine has none.
set -euo pipefail
source_tree=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tools/package/root.sh
source "$source_tree/tools/package/root.sh"

fail() {
  echo "old kernel: $*" >&2
  exit 1
}

[[ $# == 1 ]] || fail "usage: tests/package/old_kernel.sh FOLDER"
[[ $(id -u) == 0 ]] || fail "needs root, to make a system of its own"
for tool in mmdebstrap cpio qemu-system-x86_64; do
  command -v "$tool" >/dev/null || fail "install $tool"
done
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT
root=$scratch/root

make_root "$root" bookworm --variant=apt
mkdir "$root/packages" "$root/tests"
find "$1" -name '*.deb' ! -name '*-dbgsym_*' ! -name 'polykem-cuda_*' -exec cp {} "$root/packages/" \;
git -C "$source_tree" archive HEAD debian/tests tests/provider/openssl.sh | tar -x -C "$root/tests"
echo 'deb http://deb.debian.org/debian bullseye main' >"$root/etc/apt/sources.list.d/bullseye.list"
apt() {
  in_root "$root" sh -c "apt-get -qq -y --no-install-recommends $*" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" && fail "apt-get $*"; }
}
apt update
apt install iproute2 openssl '/packages/*.deb' # a pattern for the other shell
kernel=$(in_root "$root" apt-cache pkgnames linux-image-5.10 | grep -- '[0-9]-cloud-amd64$' | sort -V | tail -n 1) ||
  fail "there is no Linux 5.10 of Debian 11 at deb.debian.org any more"
in_root "$root" sh -c "cd /tmp && apt-get -qq download $kernel"
apt clean
rm -r "$root/packages" "$root"/var/lib/apt/lists/*
dpkg-deb -x "$root"/tmp/linux-image-*.deb "$scratch/kernel"
rm "$root"/tmp/linux-image-*.deb

cat >"$root/init" <<'END'
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs dev /dev && mount -t tmpfs tmpfs /tmp
ln -s /proc/self/fd /dev/fd && mkdir /dev/shm && mount -t tmpfs tmpfs /dev/shm
ip link set lo up
uname -r
cd /tests
for test in program 'daemon 30' provider python; do
  if debian/tests/$test >/tmp/log 2>&1; then echo "passed: $test"; else echo "failed: $test" && cat /tmp/log; fi
done
echo o >/proc/sysrq-trigger
sleep 60
END
chmod +x "$root/init"
(cd "$root" && find . -xdev -print0 | cpio --null --create --format=newc --quiet | gzip -1) >"$scratch/initrd"
echo "Linux 5.10 boots:"
timeout 1800 qemu-system-x86_64 -machine q35 -cpu max,-vaes -smp 2 -m 3072 -nographic -no-reboot \
  -kernel "$scratch"/kernel/boot/vmlinuz-* -initrd "$scratch/initrd" -append 'console=ttyS0 panic=-1 quiet' \
  </dev/null | stdbuf -oL tr -d '\r' | tee "$scratch/console" |
  grep --line-buffered -aE '^(5\.10\.|passed|failed)' || true
[[ $(grep -ac '^passed: ' "$scratch/console") == 4 ]] || { tail -n 40 "$scratch/console" && fail "tests failed"; }
