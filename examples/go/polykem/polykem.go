// SPDX-License-Identifier: Apache-2.0

// Package polykem calls the functions of the C library polykem that exchange keys in batches. Copy it into your program
// and extend it; docs/user_guide.md describes the C functions.
package polykem

// #cgo pkg-config: polykem
// #include <polykem/polykem.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"
)

// Status is the status of a call, or of one item of a batch. Those other than zero are errors; compare them with
// errors.Is.
type Status int

// Errors that can occur in a correct program. Other statuses show a mistake of the caller.
const (
	ErrUnknownScheme = Status(C.POLYKEM_ERR_UNKNOWN_SCHEME)
	ErrOutOfMemory   = Status(C.POLYKEM_ERR_OUT_OF_MEMORY)
	ErrRandom        = Status(C.POLYKEM_ERR_RANDOM)
	ErrPublicKey     = Status(C.POLYKEM_ERR_PUBLIC_KEY)
	ErrSecretKey     = Status(C.POLYKEM_ERR_SECRET_KEY)
	ErrSize          = Status(C.POLYKEM_ERR_SIZE)
	ErrCiphertext    = Status(C.POLYKEM_ERR_CIPHERTEXT)
)

func (s Status) Error() string {
	return "polykem: " + C.GoString(C.polykem_status_text(C.polykem_status(s)))
}

func asError(status C.polykem_status) error {
	if status == C.POLYKEM_OK {
		return nil
	}
	return Status(status)
}

// ItemsError says that the batch was computed, but for the items whose status is not zero. Their results are zeros.
type ItemsError struct{ Status []Status }

func (e *ItemsError) Error() string {
	failed := 0
	first := 0
	for i := len(e.Status) - 1; i >= 0; i-- {
		if e.Status[i] != 0 {
			failed++
			first = i
		}
	}
	return fmt.Sprintf("polykem: %d of %d items failed; item %d: %v", failed, len(e.Status), first, e.Status[first])
}

// Scheme is a parameter set, with the sizes of its records in bytes.
type Scheme struct {
	handle                                         *C.polykem_scheme
	Title                                          string
	PublicKey, SecretKey, Ciphertext, SharedSecret int
}

// FindScheme finds a parameter set by its name, "ML-KEM-768" for example.
func FindScheme(name string) (*Scheme, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var scheme Scheme
	if err := asError(C.polykem_scheme_find(text, &scheme.handle)); err != nil {
		return nil, fmt.Errorf("%w: %s", err, name)
	}
	info := C.polykem_scheme_info_t{struct_size: C.sizeof_polykem_scheme_info_t}
	if err := asError(C.polykem_scheme_info(scheme.handle, &info)); err != nil {
		return nil, err
	}
	scheme.Title = C.GoString(info.title)
	scheme.PublicKey, scheme.SecretKey = int(info.public_key_bytes), int(info.secret_key_bytes)
	scheme.Ciphertext, scheme.SharedSecret = int(info.ciphertext_bytes), int(info.shared_secret_bytes)
	return &scheme, nil
}

// Context has the threads and the random generator. Goroutines may share one.
type Context struct{ handle *C.polykem_context }

// NewContext makes a context with the library's defaults. Close it when you no longer need it.
func NewContext() (*Context, error) {
	var context Context
	if err := asError(C.polykem_context_new(nil, &context.handle)); err != nil {
		return nil, err
	}
	return &context, nil
}

// Close frees the context after its last call has ended.
func (c *Context) Close() {
	C.polykem_context_free(c.handle)
	c.handle = nil
}

// Keygen makes count key pairs. Key i is the i-th record of each slice.
func (c *Context) Keygen(s *Scheme, count int) (pk, sk []byte, err error) {
	if count < 1 || count > math.MaxInt/(s.PublicKey+s.SecretKey) {
		return nil, nil, Status(C.POLYKEM_ERR_ARGUMENT)
	}
	pk, sk = make([]byte, count*s.PublicKey), make([]byte, count*s.SecretKey)
	err = asError(C.polykem_keygen(c.handle, s.handle, C.size_t(count), first(pk), first(sk)))
	return pk, sk, err
}

// Encaps encapsulates once to each public key. With an ItemsError the other items' results are valid.
func (c *Context) Encaps(s *Scheme, pk []byte) (ct, ss []byte, err error) {
	count, err := records(len(pk), s.PublicKey)
	if err != nil {
		return nil, nil, err
	}
	ct, ss = make([]byte, count*s.Ciphertext), make([]byte, count*s.SharedSecret)
	each := make([]C.polykem_status, count)
	status := C.polykem_encaps(c.handle, s.handle, C.size_t(count), C.POLYKEM_KEY_PER_ITEM, first(pk), first(ct),
		first(ss), &each[0])
	return ct, ss, batchError(status, each)
}

// Decaps decapsulates each ciphertext with the secret key of the same index.
func (c *Context) Decaps(s *Scheme, sk, ct []byte) (ss []byte, err error) {
	count, err := records(len(sk), s.SecretKey)
	if err != nil || len(ct) != count*s.Ciphertext {
		return nil, ErrSize
	}
	ss = make([]byte, count*s.SharedSecret)
	each := make([]C.polykem_status, count)
	status := C.polykem_decaps(c.handle, s.handle, C.size_t(count), C.POLYKEM_KEY_PER_ITEM, first(sk), first(ct),
		first(ss), &each[0])
	return ss, batchError(status, each)
}

// Zeroize overwrites a secret. Go's garbage collector does not move what lies on the heap; copies that the program
// made, by append for example, are its own to overwrite.
func Zeroize(secret []byte) {
	if len(secret) > 0 {
		C.polykem_zeroize(unsafe.Pointer(&secret[0]), C.size_t(len(secret)))
	}
	runtime.KeepAlive(secret)
}

func first(records []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.Pointer(&records[0])) }

func records(length, size int) (int, error) {
	if length == 0 || length%size != 0 {
		return 0, ErrSize
	}
	return length / size, nil
}

func batchError(status C.polykem_status, each []C.polykem_status) error {
	if status != C.POLYKEM_ERR_ITEMS {
		return asError(status)
	}
	items := &ItemsError{Status: make([]Status, len(each))}
	for i, item := range each {
		items.Status[i] = Status(item)
	}
	return items
}
