#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs in a system that systemd has booted, with the version before this one installed. Sets up polykemd and HAProxy as
# the pages say, reloads, drains, breaks and mends the settings, upgrades to /packages and removes while both serve: no
# exchange fails.
set -Eeuo pipefail
commands=$(cd "$(dirname "$0")/../.." && pwd)/debian/tests/commands
cd "$(mktemp -d)"

fail() {
  echo "booted system: $*" >&2
  journalctl --no-pager --lines 50 >&2
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

readonly exchange=(--scheme frodokem1344aes --role server-encaps --port 4433)

# exchanges CLIENTS: all succeed.
exchanges() { ./polykem swarm "${exchange[@]}" --clients "$1" --quiet || fail "exchanges fail"; }

# while_exchanging COMMAND...: exchanges go on until it has ended.
while_exchanging() {
  local clients
  rm -f ended
  until [[ -e ended ]]; do exchanges 100; done &
  clients=$!
  "$@"
  touch ended
  wait "$clients"
}

main_pid() { systemctl show --property MainPID --value "$1"; }

# The socket's file, and when systemd opened it.
socket() { stat -c %i /run/polykem/socket && systemctl show --property ActiveEnterTimestampMonotonic polykemd.socket; }

# What the polykemd that runs now has computed, by the figures that a reload writes into the journal.
operations() {
  systemctl reload polykemd
  journalctl --output cat --output-fields POLYKEM_OPERATIONS POLYKEM_EVENT=figures "_PID=$(main_pid polykemd)" |
    tail -n 1
}

# Exchanges go on until polykemd has computed some: a worker computes by itself what it does faster.
daemon_computes() {
  exchanges 100
  within 10 systemctl --quiet is-active polykemd
  (($(operations) > 0))
}

fetch() {
  [[ $(curl --silent --cacert certificate.pem --curves X25519MLKEM768 https://localhost:8443) == Hello ]]
}

set_up_daemon() {
  "$commands" broker systemd | grep -v '^cmake --install' >commands.sh
  bash -e commands.sh
  systemctl --quiet is-active polykemd.socket
  [[ $(systemctl show --property ActiveState --value polykemd.service) == inactive ]]
  setpriv --reuid=www-data --regid=www-data --init-groups \
    polykem serve "${exchange[@]}" --broker /run/polykem/socket >server.log 2>&1 &
  server=$!
  within 60 grep -q ' port 4433' server.log
}

# As docs/tls.md says of Debian's services, with an openssl.cnf as docs/packages.md has it.
set_up_haproxy() {
  "$commands" packages openssl.cnf >/etc/haproxy/openssl.cnf
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out certificate.pem \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE 2>/dev/null
  cat key.pem certificate.pem >/etc/haproxy/both.pem
  cat >>/etc/haproxy/haproxy.cfg <<'END'

frontend www
  bind 127.0.0.1:8443 ssl crt /etc/haproxy/both.pem curves X25519MLKEM768 alpn http/1.1
  http-request return status 200 content-type text/plain string Hello
END
  echo OPENSSL_CONF=/etc/haproxy/openssl.cnf >>/etc/default/haproxy
  systemctl restart haproxy
  export OPENSSL_CONF=/etc/haproxy/openssl.cnf
  within 60 fetch
}

test_drain() {
  while_exchanging systemctl stop polykemd.socket polykemd
  [[ $(main_pid polykemd) == 0 && $(systemctl show --property Result --value polykemd) == success ]]
  systemctl start polykemd.socket
  within 60 daemon_computes
}

# restarted TIMES: systemd has started polykemd again so often.
restarted() { (($(systemctl show --property NRestarts --value polykemd) >= $1)); }

# However often polykemd fails, it serves again once its settings are mended.
test_recovery() {
  cp /etc/polykem/polykemd.conf settings
  echo 'no-such-setting = 1' >>/etc/polykem/polykemd.conf
  systemctl kill --signal KILL polykemd
  while_exchanging within 60 restarted 6
  cp settings /etc/polykem/polykemd.conf
  within 60 daemon_computes
}

test_upgrade() {
  local before daemon proxy
  before=$(socket) daemon=$(main_pid polykemd) proxy=$(main_pid haproxy)
  while_exchanging apt-get -o Dpkg::Use-Pty=0 -qq -y --no-install-recommends \
    -o Dpkg::Options::=--force-confold install /packages/*.deb # keeps settings that both sides have changed
  [[ $(socket) == "$before" ]] || fail "an upgrade closes the socket"
  [[ $(main_pid polykemd) != "$daemon" ]] || fail "an upgrade leaves the old daemon"
  kill -0 "$server"
  within 60 daemon_computes
  [[ $(main_pid haproxy) == "$proxy" ]]
  fetch
  grep -q 'polykem.so.* (deleted)' "/proc/$proxy/maps" || fail "HAProxy changes its library while it runs"
  systemctl reload haproxy
  fetch
  systemctl restart haproxy
  within 60 fetch
}

# The server without the daemon computes by itself.
test_removal() {
  while_exchanging apt-get -o Dpkg::Use-Pty=0 -qq -y remove polykem-tools
  [[ ! -e /run/polykem/socket ]] || fail "a removal leaves the socket"
  [[ $(main_pid polykemd) == 0 ]] || fail "a removal leaves the daemon"
  exchanges 100
}

cp /usr/bin/polykem . # stays when the package goes
set_up_daemon
within 120 daemon_computes
set_up_haproxy
while_exchanging systemctl reload polykemd
test_drain
test_recovery
test_upgrade
test_removal
