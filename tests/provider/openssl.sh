#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# openssl.sh MODULES: the program openssl with the provider in the folder MODULES.
set -euo pipefail
export OPENSSL_MODULES=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "provider test: $*" >&2
  exit 1
}

openssl list -kem-algorithms -provider default -provider polykem >"$scratch/kems"
for name in mlkem768 FrodoKEM-976-AES ntruhps4096821 X25519MLKEM768 p256_frodo640aes; do
  grep -qi "$name.*@ polykem" "$scratch/kems" || fail "openssl list does not have $name"
done
openssl list -providers -provider polykem | grep -q 'status: active' || fail "the provider is not active"

cat >"$scratch/openssl.cnf" <<'CNF'
openssl_conf = init
[init]
providers = providers
[providers]
default = default_section
polykem = polykem_section
[default_section]
activate = 1
[polykem_section]
activate = 1
CNF
export OPENSSL_CONF=$scratch/openssl.cnf
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$scratch/key" -out "$scratch/crt" \
  -subj /CN=localhost 2>"$scratch/log" || fail "$(cat "$scratch/log")"

# s_server takes a free port and says which.
openssl s_server -www -accept 0 -naccept 1 -cert "$scratch/crt" -key "$scratch/key" -tls1_3 -groups X25519MLKEM768 \
  >"$scratch/server" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$scratch"' EXIT
for _ in $(seq 100); do
  port=$(sed -n 's/^ACCEPT.*:\([0-9]*\)$/\1/p' "$scratch/server")
  [[ -z $port ]] || break
  sleep 0.1
done
[[ -n $port ]] || fail "s_server does not start: $(cat "$scratch/server")"
openssl s_client -connect "localhost:$port" -groups X25519MLKEM768 -tls1_3 </dev/null >"$scratch/client" 2>&1 ||
  fail "$(cat "$scratch/client")"
grep -q 'New, TLSv1.3' "$scratch/client" || fail "no handshake: $(cat "$scratch/client")"
