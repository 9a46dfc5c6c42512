// SPDX-License-Identifier: Apache-2.0

// Opens what polykem sealed, and seals for polykem, with Go's crypto/hpke. Reads a list of batches as JSON and answers
// with the list of what it sealed; bytes are base64. Each context has two messages and an exported secret. python/tests/test_hpke.py is the other side.
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
	Info, AAD, Again              []byte
	ExporterContext               string
	Encs, Ciphertexts, Plaintexts [][]byte
	SecretKeys, Second, Exported  [][]byte
}

type sealed struct{ Encs, Ciphertexts, Second, Exported [][]byte }

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
	var out sealed
	for i, plaintext := range b.Plaintexts {
		key, err := kem.NewPrivateKey(b.SecretKeys[i%len(b.SecretKeys)])
		check(err)
		recipient, err := hpke.NewRecipient(b.Encs[i], key, kdf, aead, b.Info)
		check(err)
		opened, err := recipient.Open(b.AAD, b.Ciphertexts[i])
		check(err)
		again, err := recipient.Open(nil, b.Second[i])
		check(err)
		if !bytes.Equal(opened, plaintext) || !bytes.Equal(again, b.Again) {
			check(fmt.Errorf("message %d is another one", i))
		}
		secret, err := recipient.Export(b.ExporterContext, len(b.Exported[i]))
		check(err)
		if !bytes.Equal(secret, b.Exported[i]) {
			check(fmt.Errorf("exported secret %d is another one", i))
		}
		enc, sender, err := hpke.NewSender(key.PublicKey(), kdf, aead, b.Info)
		check(err)
		ciphertext, err := sender.Seal(b.AAD, plaintext)
		check(err)
		second, err := sender.Seal(nil, b.Again)
		check(err)
		secret, err = sender.Export(b.ExporterContext, len(b.Exported[i]))
		check(err)
		out.Encs = append(out.Encs, enc)
		out.Ciphertexts = append(out.Ciphertexts, ciphertext)
		out.Second = append(out.Second, second)
		out.Exported = append(out.Exported, secret)
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
