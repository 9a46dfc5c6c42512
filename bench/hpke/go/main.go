// SPDX-License-Identifier: Apache-2.0

// Messages a second that Go's crypto/hpke seals and opens, for compare.py: go KEM KDF AEAD BYTES BLOCKS SIZE. With one key, it is
// loaded before; with a key each, every message's is read from its bytes. Prints {"seal": {"shared": RATE, ...}, ...}.
package main

import (
	"bytes"
	"crypto/hpke"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

var kems = map[string]hpke.KEM{
	"ML-KEM-768": hpke.MLKEM768(), "ML-KEM-1024": hpke.MLKEM1024(), "MLKEM768-X25519": hpke.MLKEM768X25519(),
	"MLKEM768-P256": hpke.MLKEM768P256(), "MLKEM1024-P384": hpke.MLKEM1024P384(),
}
var kdfs = map[string]hpke.KDF{
	"HKDF-SHA256": hpke.HKDFSHA256(), "HKDF-SHA384": hpke.HKDFSHA384(), "SHAKE256": hpke.SHAKE256(),
}
var aeads = map[string]hpke.AEAD{
	"AES-128-GCM": hpke.AES128GCM(), "AES-256-GCM": hpke.AES256GCM(), "ChaCha20Poly1305": hpke.ChaCha20Poly1305(),
}

func number(argument int) int { return must(strconv.Atoi(os.Args[argument])) }

type keyPair struct{ secret, public []byte }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// Key pairs in their bytes.
func generate(kem hpke.KEM, count int) []keyPair {
	pairs := make([]keyPair, count)
	for i := range pairs {
		key := must(kem.GenerateKey())
		pairs[i] = keyPair{must(key.Bytes()), key.PublicKey().Bytes()}
	}
	return pairs
}

// Seconds that this process has computed, its collector too.
func computed() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) * 1e-9
}

// Calls a second in the fastest block.
func bestRate(blocks, size int, call func(i int)) (best float64) {
	for b := range blocks {
		start := computed()
		for i := range size {
			call(b*size + i)
		}
		best = max(best, float64(size)/(computed()-start))
	}
	return best
}

func main() {
	kem, kdf, aead := kems[os.Args[1]], kdfs[os.Args[2]], aeads[os.Args[3]]
	message, blocks, size := make([]byte, number(4)), number(5), number(6)
	count := blocks * size
	sealed, opened := make([][]byte, count), make([][]byte, count)
	rates := map[string]map[string]float64{"seal": {}, "open": {}}
	measure := func(keys string, public func(i int) hpke.PublicKey, secret func(i int) hpke.PrivateKey) {
		rates["seal"][keys] = bestRate(blocks, size, func(i int) { sealed[i] = must(hpke.Seal(public(i), kdf, aead, nil, message)) })
		rates["open"][keys] = bestRate(blocks, size, func(i int) { opened[i] = must(hpke.Open(secret(i), kdf, aead, nil, sealed[i])) })
		for i := range opened {
			if !bytes.Equal(opened[i], message) {
				check(fmt.Errorf("opened something else"))
			}
		}
	}
	one := must(kem.GenerateKey())
	public := one.PublicKey()
	measure("shared", func(int) hpke.PublicKey { return public }, func(int) hpke.PrivateKey { return one })
	pairs := generate(kem, count)
	measure("per-item", func(i int) hpke.PublicKey { return must(kem.NewPublicKey(pairs[i].public)) },
		func(i int) hpke.PrivateKey { return must(kem.NewPrivateKey(pairs[i].secret)) })
	check(json.NewEncoder(os.Stdout).Encode(rates))
}
