// SPDX-License-Identifier: Apache-2.0

package polykem

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

func setUp(t *testing.T, name string) (*Scheme, *Context) {
	t.Helper()
	scheme, err := FindScheme(name)
	if err != nil {
		t.Fatal(err)
	}
	context, err := NewContext()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(context.Close)
	return scheme, context
}

func TestBothSidesHaveTheSecrets(t *testing.T) {
	scheme, context := setUp(t, "X25519MLKEM768")
	pk, sk, err := context.Keygen(scheme, 5)
	if err != nil {
		t.Fatal(err)
	}
	ct, sent, err := context.Encaps(scheme, pk)
	if err != nil {
		t.Fatal(err)
	}
	received, err := context.Decaps(scheme, sk, ct)
	if err != nil || !bytes.Equal(sent, received) || len(sent) != 5*scheme.SharedSecret {
		t.Fatalf("other secrets: %v", err)
	}
	Zeroize(sent)
	if !bytes.Equal(sent, make([]byte, len(sent))) {
		t.Error("the secrets are still there")
	}
}

func TestAMalformedKeySpoilsOnlyItsItem(t *testing.T) {
	scheme, context := setUp(t, "ML-KEM-768")
	pk, sk, err := context.Keygen(scheme, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < scheme.PublicKey; i++ { // coefficients above the modulus
		pk[scheme.PublicKey+i] = 0xff
	}
	ct, sent, err := context.Encaps(scheme, pk)
	var items *ItemsError
	if !errors.As(err, &items) {
		t.Fatalf("no ItemsError: %v", err)
	}
	if items.Status[0] != 0 || !errors.Is(items.Status[1], ErrPublicKey) || items.Status[2] != 0 {
		t.Errorf("statuses %v", items.Status)
	}
	received, err := context.Decaps(scheme, sk[2*scheme.SecretKey:], ct[2*scheme.Ciphertext:])
	if err != nil || !bytes.Equal(received, sent[2*scheme.SharedSecret:]) {
		t.Errorf("the third item failed, too: %v", err)
	}
}

func TestWrongCallsAreErrors(t *testing.T) {
	scheme, context := setUp(t, "ML-KEM-768")
	if _, err := FindScheme("ML-KEM-769"); !errors.Is(err, ErrUnknownScheme) {
		t.Errorf("an unknown set: %v", err)
	}
	if _, _, err := context.Keygen(scheme, 0); err == nil {
		t.Error("an empty batch")
	}
	if _, _, err := context.Keygen(scheme, math.MaxInt); err == nil {
		t.Error("a batch whose size overflows")
	}
	if _, _, err := context.Encaps(scheme, make([]byte, scheme.PublicKey+1)); !errors.Is(err, ErrSize) {
		t.Errorf("a key of another size: %v", err)
	}
	sk := make([]byte, 2*scheme.SecretKey)
	if _, err := context.Decaps(scheme, sk, make([]byte, scheme.Ciphertext)); !errors.Is(err, ErrSize) {
		t.Errorf("a ciphertext too few: %v", err)
	}
}
