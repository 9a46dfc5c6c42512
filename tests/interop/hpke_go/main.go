// SPDX-License-Identifier: Apache-2.0

// Opens what polykem sealed, and seals for polykem, with Go's crypto/hpke. Reads a list of batches as JSON and answers
// with the list of what it sealed; bytes are base64. python/tests/test_hpke.py is the other side.
package main

import (
	"bytes"
	"crypto/hpke"
	"encoding/json"
	"fmt"
	"os"
)

type batch struct {
	Kem, Kdf, Aead                uint16
	Info, AAD, SecretKey          []byte
	Encs, Ciphertexts, Plaintexts [][]byte
}

type sealed struct{ Encs, Ciphertexts [][]byte }

func algorithms(b batch) (hpke.KEM, hpke.KDF, hpke.AEAD) {
	kem, err := hpke.NewKEM(b.Kem)
	check(err)
	kdf, err := hpke.NewKDF(b.Kdf)
	check(err)
	aead, err := hpke.NewAEAD(b.Aead)
	check(err)
	return kem, kdf, aead
}

func answer(b batch) sealed {
	kem, kdf, aead := algorithms(b)
	key, err := kem.NewPrivateKey(b.SecretKey)
	check(err)
	var out sealed
	for i, plaintext := range b.Plaintexts {
		recipient, err := hpke.NewRecipient(b.Encs[i], key, kdf, aead, b.Info)
		check(err)
		opened, err := recipient.Open(b.AAD, b.Ciphertexts[i])
		check(err)
		if !bytes.Equal(opened, plaintext) {
			check(fmt.Errorf("message %d is another one", i))
		}
		enc, sender, err := hpke.NewSender(key.PublicKey(), kdf, aead, b.Info)
		check(err)
		ciphertext, err := sender.Seal(b.AAD, plaintext)
		check(err)
		out.Encs = append(out.Encs, enc)
		out.Ciphertexts = append(out.Ciphertexts, ciphertext)
	}
	return out
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	var batches []batch
	check(json.NewDecoder(os.Stdin).Decode(&batches))
	answers := make([]sealed, 0, len(batches))
	for _, b := range batches {
		answers = append(answers, answer(b))
	}
	check(json.NewEncoder(os.Stdout).Encode(answers))
}
