// SPDX-License-Identifier: Apache-2.0

// Key exchange with eight clients at once, in Go: both sides in one program, as in ../batch.c.
//
//	go run .        with PKG_CONFIG_PATH and LD_LIBRARY_PATH if polykem is not installed below /usr
package main

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"polykem.example/batch/polykem"
)

const clients = 8

func must(err error) {
	var items *polykem.ItemsError
	if errors.As(err, &items) {
		// The other items are valid. A server would refuse these clients and serve the rest.
		log.Fatalf("statuses of the items: %v", items.Status)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	scheme, err := polykem.FindScheme("ML-KEM-768")
	must(err)
	context, err := polykem.NewContext()
	must(err)
	defer context.Close()

	pk, sk, err := context.Keygen(scheme, clients) // the clients
	must(err)
	defer polykem.Zeroize(sk)
	ct, sent, err := context.Encaps(scheme, pk) // the server, to all of them
	must(err)
	defer polykem.Zeroize(sent)
	received, err := context.Decaps(scheme, sk, ct) // the clients
	must(err)
	defer polykem.Zeroize(received)

	if !bytes.Equal(sent, received) {
		log.Fatal("the secrets differ")
	}
	fmt.Printf("%s: %d shared secrets are equal\n", scheme.Title, clients)
}
