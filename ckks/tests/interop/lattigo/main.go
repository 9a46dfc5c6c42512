// SPDX-License-Identifier: Apache-2.0

// Computes with Lattigo what job.json in the working folder says; ckks/python/tests/test_ckks_lattigo.py is the other side.
//
// A job is a parameter set, a secret key and steps. Each step makes a value from others, reads it from the file
// NAME.bin or writes it there: words are uint64, parts after parts and limbs after limbs, in polykem's order
// a(psi^(2 bitrev(i) + 1)); numbers are complex128. All are little-endian. saved.json has limbs, parts and scales of
// the ciphertexts that were written.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

type job struct {
	LogN, LogScale int
	Q, Roots, P    []uint64
	Rotations      []int
	Secret         string
	Steps          []step
}

// A, B and Out name values. B may name a ciphertext, a plaintext or numbers.
type step struct {
	Op, Out, A, B string
	Parts, Limbs  int
	Scale         float64
	By            int
}

type header struct {
	Parts int     `json:"parts"`
	Limbs int     `json:"limbs"`
	Scale float64 `json:"scale"`
}

type machine struct {
	params    ckks.Parameters
	orders    [][]int
	encoder   *ckks.Encoder
	encryptor *rlwe.Encryptor
	decryptor *rlwe.Decryptor
	evaluator *ckks.Evaluator
	values    map[string]any
	saved     map[string]header
}

func newMachine(j job) *machine {
	params, err := ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
		LogN: j.LogN, Q: j.Q, P: j.P, LogDefaultScale: j.LogScale})
	check(err)
	m := &machine{params: params, encoder: ckks.NewEncoder(params), values: map[string]any{}, saved: map[string]header{}}
	for i, root := range j.Roots {
		m.orders = append(m.orders, order(params.RingQ().SubRings[i], root))
	}
	secret := m.secretKey(j.Secret)
	generator := rlwe.NewKeyGenerator(params)
	elements := append(params.GaloisElements(j.Rotations), params.GaloisElementForComplexConjugation())
	keys := rlwe.NewMemEvaluationKeySet(generator.GenRelinearizationKeyNew(secret),
		generator.GenGaloisKeysNew(elements, secret)...)
	m.encryptor = rlwe.NewEncryptor(params, generator.GenPublicKeyNew(secret))
	m.decryptor = rlwe.NewDecryptor(params, secret)
	m.evaluator = ckks.NewEvaluator(params, keys)
	return m
}

// secretKey takes the coefficients modulo the first prime, -1, 0 and 1, to all primes.
func (m *machine) secretKey(name string) *rlwe.SecretKey {
	key := rlwe.NewSecretKey(m.params)
	q := m.params.RingQ().SubRings[0]
	ternary := m.readPolys(name, 1, 1)[0].Coeffs[0]
	q.INTT(ternary, ternary)
	for _, part := range []struct {
		ring *ring.Ring
		poly ring.Poly
	}{{m.params.RingQ(), key.Value.Q}, {m.params.RingP(), key.Value.P}} {
		for l, row := range part.poly.Coeffs {
			for i, x := range ternary {
				switch x {
				case 0, 1:
					row[i] = x
				case q.Modulus - 1:
					row[i] = part.ring.SubRings[l].Modulus - 1
				default:
					check(fmt.Errorf("coefficient %d of the secret key is %d", i, x))
				}
			}
		}
		part.ring.NTT(part.poly, part.poly)
		part.ring.MForm(part.poly, part.poly)
	}
	return key
}

// order says for each of polykem's words where Lattigo has it: the one with the same point, which is its value of X.
func order(r *ring.SubRing, root uint64) []int {
	points := make([]uint64, r.N)
	points[1] = 1
	r.NTT(points, points)
	where := make(map[uint64]int, r.N)
	for i, point := range points {
		where[point] = i
	}
	square := ring.BRed(root, root, r.Modulus, r.BRedConstant)
	out := make([]int, r.N)
	for exponent, point := 0, root; exponent < r.N; exponent++ {
		at, found := where[point]
		if !found {
			check(fmt.Errorf("%d is no primitive root modulo %d", root, r.Modulus))
		}
		out[reversed(exponent, r.N)] = at
		point = ring.BRed(point, square, r.Modulus, r.BRedConstant)
	}
	return out
}

// reversed is x with its log2(n) bits in the opposite order.
func reversed(x, n int) int {
	out := 0
	for ; n > 1; n >>= 1 {
		out = out<<1 | x&1
		x >>= 1
	}
	return out
}

func (m *machine) run(s step) {
	switch s.Op {
	case "ciphertext":
		out := ckks.NewCiphertext(m.params, s.Parts-1, s.Limbs-1)
		out.Value = m.readPolys(s.Out, s.Parts, s.Limbs)
		out.Scale = rlwe.NewScale(s.Scale)
		m.values[s.Out] = out
	case "plaintext":
		out := ckks.NewPlaintext(m.params, s.Limbs-1)
		out.Value.Copy(m.readPolys(s.Out, 1, s.Limbs)[0])
		out.Scale = rlwe.NewScale(s.Scale)
		m.values[s.Out] = out
	case "numbers":
		out := make([]complex128, m.params.MaxSlots())
		read(s.Out, out)
		m.values[s.Out] = out
	case "encrypt":
		plaintext := ckks.NewPlaintext(m.params, m.params.MaxLevel())
		check(m.encoder.Encode(m.values[s.A], plaintext))
		m.keep(s)(m.encryptor.EncryptNew(plaintext))
	case "save":
		m.save(s.A)
	case "coefficients":
		m.saveCoefficients(s.A, s.Out)
	case "decrypt":
		out := make([]complex128, m.params.MaxSlots())
		check(m.encoder.Decode(m.decryptor.DecryptNew(m.ciphertext(s.A)), out))
		write(s.Out, out)
	default:
		m.compute(s)
	}
}

func (m *machine) compute(s step) {
	a, e := m.ciphertext(s.A), m.evaluator
	switch s.Op {
	case "add":
		m.keep(s)(e.AddNew(a, m.values[s.B]))
	case "sub":
		m.keep(s)(e.SubNew(a, m.values[s.B]))
	case "mul":
		m.keep(s)(e.MulNew(a, m.values[s.B]))
	case "relinearise":
		m.keep(s)(e.RelinearizeNew(a))
	case "rescale":
		out := a.CopyNew()
		m.keep(s)(out, e.Rescale(out, out))
	case "rotate":
		m.keep(s)(e.RotateNew(a, s.By))
	case "conjugate":
		m.keep(s)(e.ConjugateNew(a))
	case "align":
		m.keep(s)(m.align(a, m.ciphertext(s.B)))
	default:
		check(fmt.Errorf("there is no step %q", s.Op))
	}
}

// align brings a to the level and scale of b, if they differ by a product with the ratio of the scales.
func (m *machine) align(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	if a.Level() == b.Level() {
		return a, nil
	}
	out := m.evaluator.DropLevelNew(a, a.Level()-b.Level()-1)
	ratio := make([]complex128, m.params.MaxSlots())
	for i := range ratio {
		ratio[i] = complex(b.Scale.Float64()/a.Scale.Float64(), 0)
	}
	if err := m.evaluator.Mul(out, ratio, out); err != nil {
		return nil, err
	}
	err := m.evaluator.Rescale(out, out)
	out.Scale = b.Scale
	return out, err
}

func (m *machine) keep(s step) func(*rlwe.Ciphertext, error) {
	return func(out *rlwe.Ciphertext, err error) {
		check(err)
		m.values[s.Out] = out
	}
}

func (m *machine) ciphertext(name string) *rlwe.Ciphertext {
	out, is := m.values[name].(*rlwe.Ciphertext)
	if !is {
		check(fmt.Errorf("%q is no ciphertext", name))
	}
	return out
}

func (m *machine) readPolys(name string, parts, limbs int) []ring.Poly {
	polys := make([]ring.Poly, parts)
	words := make([]uint64, parts*limbs*m.params.N())
	read(name, words)
	for i := range polys {
		polys[i] = ring.NewPoly(m.params.N(), limbs-1)
		for l, row := range polys[i].Coeffs {
			for _, at := range m.orders[l] {
				row[at], words = words[0], words[1:]
			}
		}
	}
	return polys
}

func (m *machine) save(name string) {
	a := m.ciphertext(name)
	var words []uint64
	for _, poly := range a.Value {
		for l, row := range poly.Coeffs {
			for _, at := range m.orders[l] {
				words = append(words, row[at])
			}
		}
	}
	write(name, words)
	m.saved[name] = header{a.Degree() + 1, a.Level() + 1, a.Scale.Float64()}
}

func (m *machine) saveCoefficients(name, file string) {
	a := m.ciphertext(name).CopyNew()
	var words []uint64
	for _, poly := range a.Value {
		m.params.RingQ().AtLevel(a.Level()).INTT(poly, poly)
		for _, row := range poly.Coeffs {
			words = append(words, row...)
		}
	}
	write(file, words)
}

func read(name string, into any) {
	file, err := os.Open(name + ".bin")
	check(err)
	defer file.Close()
	check(binary.Read(file, binary.LittleEndian, into))
}

func write(name string, what any) {
	data, err := binary.Append(nil, binary.LittleEndian, what)
	check(err)
	check(os.WriteFile(name+".bin", data, 0o600))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "lattigo:", err)
		os.Exit(1)
	}
}

func main() {
	var j job
	text, err := os.ReadFile("job.json")
	check(err)
	check(json.Unmarshal(text, &j))
	m := newMachine(j)
	for _, s := range j.Steps {
		m.run(s)
	}
	saved, err := json.Marshal(m.saved)
	check(err)
	check(os.WriteFile("saved.json", saved, 0o600))
}
