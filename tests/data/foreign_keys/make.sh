#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# make.sh MODULES: makes the files of this folder anew, with OpenSSL 3.0 and the folder that holds polykem.so and
# OpenSSL's own legacy.so.
set -euo pipefail
OPENSSL_MODULES=$(realpath "$1")
export OPENSSL_MODULES
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
with=(-provider polykem -provider default)
key=$here/../rfc9935/ML-KEM-512-seed.priv

# sealed FILE OPTION...: the key, encrypted as the options say
sealed() {
  openssl pkcs8 "${with[@]}" -topk8 -in "$key" "${@:2}" -out "$here/$1"
}
secret=(-passout "pass:correct horse")

for cipher in aes-128-cbc aes-192-cbc aes-256-cbc des3; do
  sealed $cipher.pem -v2 $cipher "${secret[@]}"
done
for hash in sha1 sha224 sha384 sha512; do
  sealed hmac-$hash.pem -v2 aes-256-cbc -v2prf hmacWith${hash^^} -iter 5000 "${secret[@]}"
done
sealed scrypt.pem -scrypt "${secret[@]}"
sealed pbe-sha1-3des.pem -v1 PBE-SHA1-3DES "${secret[@]}"
sealed pbe-md5-des.pem -provider legacy -v1 PBE-MD5-DES "${secret[@]}"
sealed empty.pem -v2 aes-256-cbc -passout pass:
sealed aes-256-cbc.der -v2 aes-256-cbc -outform der "${secret[@]}"
# Which take little work, for tests/fuzz.
sealed pbkdf2-1.der -v2 aes-256-cbc -iter 1 -outform der "${secret[@]}"
sealed scrypt-2.der -scrypt -scrypt_N 2 -scrypt_r 1 -scrypt_p 1 -outform der "${secret[@]}"
sealed pbe-sha1-3des-1.der -v1 PBE-SHA1-3DES -iter 1 -outform der "${secret[@]}"

curve=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
openssl req -x509 "${curve[@]}" -keyout ca.key -out "$here/ca.crt" -days 36500 -subj /CN=ca
openssl genpkey "${with[@]}" -algorithm ML-KEM-768 -out "$here/mlkem768.key"
openssl pkey "${with[@]}" -in "$here/mlkem768.key" -pubout -out public.pem
openssl req -new "${curve[@]}" -keyout unused.key -out request.csr -subj /CN=alice
openssl x509 "${with[@]}" -req -in request.csr -force_pubkey public.pem -CA "$here/ca.crt" -CAkey ca.key -set_serial 1 \
  -days 36500 -out "$here/mlkem768.crt"
openssl pkcs12 "${with[@]}" -export -inkey "$here/mlkem768.key" -in "$here/mlkem768.crt" -certfile "$here/ca.crt" \
  -name "my key" -passout pass:x -out bundle.p12
openssl pkcs12 "${with[@]}" -in bundle.p12 -passin pass:x -nodes -out "$here/pkcs12_nodes.pem"
openssl pkcs12 "${with[@]}" -in bundle.p12 -passin pass:x -nodes -nocerts -out key.pem
cat key.pem "$here/mlkem768.crt" "$here/ca.crt" >"$here/key_first.pem"
chmod 644 "$here"/*.pem "$here"/*.der "$here"/*.key "$here"/*.crt
