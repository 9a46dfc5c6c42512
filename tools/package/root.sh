# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For scripts that work in bare Debian systems; they run as root.

# make_root ROOT SUITE OPTION...: a new system of Debian, or of Ubuntu with universe, in ROOT, by mmdebstrap with its
# options.
make_root() {
  local root=$1 suite=$2 components=main
  shift 2
  if [[ $suite == noble ]]; then
    components=main,universe
    if [[ ! -e /usr/share/keyrings/ubuntu-archive-keyring.gpg || ! -e /usr/share/distro-info/ubuntu.csv ]] ||
      ! command -v gpg >/dev/null; then
      echo "$suite: install gpg, distro-info-data and ubuntu-keyring (which Debian 13 and Ubuntu have)" >&2
      return 1
    fi
  fi
  mmdebstrap --quiet --mode=root --components="$components" --include=apt "$@" "$suite" "$root" || return
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  echo '127.0.0.1 localhost' >"$root/etc/hosts"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # no services: there is no init
  chmod +x "$root/usr/sbin/policy-rc.d"
}

# in_root ROOT [--offline] COMMAND...: runs it there with a clean environment; what it leaves running is killed.
in_root() {
  local root=$1 network=()
  shift
  if [[ $1 == --offline ]]; then
    network=(--net)
    shift
  fi
  unshare --mount --pid --fork --kill-child "${network[@]}" --mount-proc="$root/proc" chroot "$root" \
    /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
