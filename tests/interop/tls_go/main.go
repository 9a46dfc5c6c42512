// SPDX-License-Identifier: Apache-2.0

// The hybrids of TLS 1.3 from Go's crypto/mlkem and crypto/ecdh, joined as RFC 10024 says. Go's crypto/tls has them too, but only
// within a handshake. Reads a group and polykem's shares as JSON, and answers with ciphertexts, their secrets and shares of its
// own; reads ciphertexts to those, and answers with their secrets. Bytes are base64. python/tests/test_hybrids.py is the other side.
package main

import (
	"crypto/ecdh"
	"crypto/mlkem"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
)

type encapsulator interface {
	Encapsulate() (secret, ciphertext []byte)
}
type decapsulator interface{ Decapsulate([]byte) ([]byte, error) }

type group struct {
	curve                ecdh.Curve
	curveFirst           bool
	pointBytes, keyBytes int
	newKey               func() (decapsulator, []byte)
	readKey              func([]byte) (encapsulator, error)
}

func newKey768() (decapsulator, []byte) {
	key := must(mlkem.GenerateKey768())
	return key, key.EncapsulationKey().Bytes()
}

func newKey1024() (decapsulator, []byte) {
	key := must(mlkem.GenerateKey1024())
	return key, key.EncapsulationKey().Bytes()
}

func readKey768(key []byte) (encapsulator, error)  { return mlkem.NewEncapsulationKey768(key) }
func readKey1024(key []byte) (encapsulator, error) { return mlkem.NewEncapsulationKey1024(key) }

var groups = map[string]group{
	"x25519mlkem768":     {ecdh.X25519(), false, 32, mlkem.EncapsulationKeySize768, newKey768, readKey768},
	"secp256r1mlkem768":  {ecdh.P256(), true, 65, mlkem.EncapsulationKeySize768, newKey768, readKey768},
	"secp384r1mlkem1024": {ecdh.P384(), true, 97, mlkem.EncapsulationKeySize1024, newKey1024, readKey1024},
}

// Both parts, the curve's and ML-KEM's, in the group's order.
func (g group) join(ec, pq []byte) []byte {
	if g.curveFirst {
		return append(append([]byte{}, ec...), pq...)
	}
	return append(append([]byte{}, pq...), ec...)
}

func (g group) split(both []byte) (ec, pq []byte) {
	if g.curveFirst {
		return both[:g.pointBytes], both[g.pointBytes:]
	}
	return both[len(both)-g.pointBytes:], both[:len(both)-g.pointBytes]
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func (g group) respond(share []byte) (ciphertext, secret []byte) {
	if len(share) != g.pointBytes+g.keyBytes {
		check(fmt.Errorf("a share of %d bytes", len(share)))
	}
	ec, pq := g.split(share)
	peer, own := must(g.curve.NewPublicKey(ec)), must(g.curve.GenerateKey(rand.Reader))
	pqSecret, pqCiphertext := must(g.readKey(pq)).Encapsulate()
	return g.join(own.PublicKey().Bytes(), pqCiphertext), g.join(must(own.ECDH(peer)), pqSecret)
}

type client struct {
	ec *ecdh.PrivateKey
	pq decapsulator
}

func (g group) start() (client, []byte) {
	pq, key := g.newKey()
	ec := must(g.curve.GenerateKey(rand.Reader))
	return client{ec, pq}, g.join(ec.PublicKey().Bytes(), key)
}

func (g group) finish(c client, ciphertext []byte) []byte {
	ec, pq := g.split(ciphertext)
	return g.join(must(c.ec.ECDH(must(g.curve.NewPublicKey(ec)))), must(c.pq.Decapsulate(pq)))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var first struct {
		Group  string
		Shares [][]byte
	}
	check(in.Decode(&first))
	g := groups[first.Group]
	var answer struct{ Ciphertexts, Secrets, Shares [][]byte }
	var clients []client
	for _, share := range first.Shares {
		ciphertext, secret := g.respond(share)
		answer.Ciphertexts, answer.Secrets = append(answer.Ciphertexts, ciphertext), append(answer.Secrets, secret)
		client, own := g.start()
		clients, answer.Shares = append(clients, client), append(answer.Shares, own)
	}
	check(out.Encode(answer))
	var second struct{ Ciphertexts [][]byte }
	check(in.Decode(&second))
	var secrets [][]byte
	for i, ciphertext := range second.Ciphertexts {
		secrets = append(secrets, g.finish(clients[i], ciphertext))
	}
	check(out.Encode(secrets))
}
