#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the images by Podman with the commands of docs/containers.md, and looks at what they compute, admit and leave.
# Needs root.
#
#   tests/package/oci.sh FOLDER      FOLDER holds what tools/package/oci.sh built
set -Eeuo pipefail
page=$(cd "$(dirname "$0")/../.." && pwd)/docs/containers.md
(($# == 1)) || { echo "usage: tests/package/oci.sh FOLDER" >&2 && exit 2; }
[[ $(id -u) == 0 ]] || { echo "tests/package/oci.sh: needs root" >&2 && exit 1; }
folder=$(cd "$1" && pwd)
scratch=$(mktemp -d)
export CONTAINERS_STORAGE_CONF=$scratch/storage.conf CONTAINERS_CONF=$scratch/containers.conf
cd "$scratch"

# Images and containers of the test's own. Podman would raise limits, which not every root may.
driver=overlay
[[ $(stat -f -c %T .) != overlayfs ]] && grep -qw overlay /proc/filesystems || driver=vfs
printf '[storage]\ndriver = "%s"\ngraphroot = "%s"\nrunroot = "%s"\n' "$driver" "$PWD/storage" "$PWD/run" >storage.conf
cat >containers.conf <<CONF
[containers]
default_ulimits = ["nofile=10000:10000", "nproc=1000:1000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "$PWD/libpod"
lock_type = "file"
CONF

finish() {
  podman rm --all --force --time 0 >/dev/null 2>&1 || true
  umount "$scratch/storage/overlay" 2>/dev/null || true
  rm -rf --one-file-system "$scratch"
}
trap finish EXIT

fail() {
  local container
  trap - ERR
  echo "container test: $*" >&2
  for container in polykemd worker haproxy; do
    podman logs "$container" 2>&1 | sed "s/^/$container: /" >&2 || true
  done
  exit 1
}
trap 'fail "line $LINENO"' ERR

# within SECONDS COMMAND...: repeats it until it succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

# commands MARK: what the page tells to paste below it; without --ulimit where root may not raise limits.
commands() {
  local edit=''
  prlimit --memlock=unlimited true 2>/dev/null || edit='s/ --ulimit memlock=-1//'
  sed -n "/^<!-- run: $1 -->\$/,/^\`\`\`\$/p" "$page" | sed '1,2d;$d' | sed "$edit" | grep .
}

# shellcheck disable=SC1091 # the page's commands
run_page() { source /dev/stdin <<<"$(commands "$1")" >>log 2>&1; }

get() { curl --silent --fail "http://127.0.0.1:9464/$1" >answer; }
counter() { get metrics && sed -n "s/^polykem_broker_$1 //p" answer; }
says() { podman logs "$1" 2>&1 | grep "$2" >/dev/null; }
exits_well() { [[ $(podman inspect --format '{{.State.ExitCode}}' "$1") == 0 ]]; }
# opens_socket NAME OPTION...: a container of this image may open polykemd's socket.
opens_socket() {
  podman run --rm "${@:2}" -v polykem:/run/polykem:ro "$1:$VERSION" test -w /run/polykem/socket
}

# more_than COUNT: that many operations has polykemd computed.
more_than() { (($(counter operations_total) > $1)); }

swarm() { eval "$(commands swarm | sed '/^curl/d')"; }
polykemd_computes() { run_page swarm && more_than 0; }

# image_is NAME USER: it has this user, who may change none of its files, and no file is setuid.
image_is() {
  local image=$1:$VERSION found
  [[ $(podman inspect --format '{{.Config.User}}' "$image") == "$2" ]] || fail "$1 runs as another user"
  found=$(podman run --rm --user 0 --network none "$image" find / -xdev -type f -perm /6000)
  [[ -z $found ]] || fail "$1 has setuid files: $found"
  found=$(podman run --rm --network none "$image" find /bin/ /etc /lib/ /opt /sbin/ /usr -writable ! -type l)
  [[ -z $found ]] || fail "$1 may change $found"
}

test_daemon() {
  echo "polykemd and a worker in containers"
  cp "$folder"/*.oci.tar .
  eval "$(commands daemon | grep '^VERSION=')"
  run_page daemon
  image_is polykemd 901
  within 60 get readyz || fail "polykemd is not ready"
  within 60 says worker ' port 4433' || fail "the worker does not serve"
  opens_socket polykemd --user 1000 --group-add 901 || fail "the group cannot open the socket"
  local status=0
  opens_socket polykemd --user 1000 || status=$?
  [[ $status == 1 ]] || fail "everybody can open the socket"
  within 60 polykemd_computes || fail "polykemd computes nothing"
  podman kill --signal HUP polykemd >>log
  within 60 says polykemd 'configuration was read' || fail "polykemd does not read its settings again"
}

# Exchanges go on while polykemd ends, and the next one computes again.
test_end() {
  local clients before
  echo "an end of polykemd while clients exchange keys"
  before=$(counter operations_total)
  until [[ -e ended ]]; do swarm; done >swarm.log 2>&1 &
  clients=$!
  within 60 more_than "$before" || fail "polykemd computes nothing"
  podman stop polykemd >>log
  touch ended
  exits_well polykemd || fail "polykemd fails at its end"
  says polykemd 'ends: ' || fail "polykemd does not say how it ends"
  wait "$clients" || { cat swarm.log && fail "exchanges fail"; }
  podman start polykemd >>log
  within 60 get readyz || fail "polykemd is not ready again"
  within 60 polykemd_computes || fail "polykemd computes nothing after a start"
  podman stop worker >>log
  exits_well worker || fail "the worker fails at its end"
}

# run_haproxy OPTIONS: the page's last commands, with further options of podman run.
run_haproxy() {
  local all
  all=$(commands haproxy | sed -n '/^podman run -d/,$p' | sed "1s,--read-only,$1 &,")
  podman rm --force --ignore haproxy >>log
  eval "$(sed '$d' <<<"$all")" >>log
  within 60 eval "$(sed -n '$p' <<<"$all")" >>log 2>&1 || fail "no handshake"
  podman stop haproxy >>log
  exits_well haproxy || fail "HAProxy fails at its end"
}

# Once as the page has it, and once with polykemd's socket and the provider's counters, complete at HAProxy's end.
test_haproxy() {
  local computed
  echo "HAProxy in a container"
  eval "$(commands haproxy | sed '/^podman run/,$d')" >>log 2>&1
  image_is polykem-haproxy 902
  opens_socket polykem-haproxy || fail "HAProxy cannot open polykemd's socket"
  run_haproxy ''
  run_page openssl.cnf
  mkdir counters
  chown 902 counters
  echo 'statistics = /counters/haproxy' >>openssl.cnf
  run_haproxy "-v polykem:/run/polykem:ro -v $PWD/openssl.cnf:/etc/polykem/openssl.cnf:ro -v $PWD/counters:/counters"
  computed=$(cat counters/haproxy.* | sed -n 's/.*"op": "encaps", "operations": \([0-9]*\).*/\1/p')
  [[ $computed == 1 ]] || fail "polykem computed ${computed:-0} handshakes of 1"
}

test_daemon
test_end
test_haproxy
