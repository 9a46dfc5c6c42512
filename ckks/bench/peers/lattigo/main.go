// SPDX-License-Identifier: Apache-2.0

// Lattigo's part of peers.py.
//
//	lattigo LOG_N LIMBS SPECIALS SECONDS
package main

import (
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"syscall"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// now returns this process's CPU time: others may use the core in between.
func now() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func timing(operation string, seconds float64, call func()) {
	call()
	var times []float64
	for begin := now(); len(times) < 3 || now()-begin < seconds; {
		start := now()
		call()
		times = append(times, 1e3*(now()-start))
	}
	sort.Float64s(times)
	fmt.Printf("%s\t%.4f\t%.4f\n", operation, times[0], times[len(times)/2])
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	logN, limbs, specials := must(strconv.Atoi(os.Args[1])), must(strconv.Atoi(os.Args[2])), must(strconv.Atoi(os.Args[3]))
	seconds := must(strconv.ParseFloat(os.Args[4], 64))
	q, p := make([]int, limbs), make([]int, specials)
	for i := range q {
		q[i] = 50
	}
	q[0] = 60
	for i := range p {
		p[i] = 60
	}
	params := must(ckks.NewParametersFromLiteral(ckks.ParametersLiteral{LogN: logN, LogQ: q, LogP: p, LogDefaultScale: 50}))
	steps := make([]int, 16)
	for i := range steps {
		steps[i] = i + 1
	}
	generator := rlwe.NewKeyGenerator(params)
	secret := generator.GenSecretKeyNew()
	keys := rlwe.NewMemEvaluationKeySet(generator.GenRelinearizationKeyNew(secret),
		generator.GenGaloisKeysNew(params.GaloisElements(steps), secret)...)
	evaluator := ckks.NewEvaluator(params, keys)
	x := make([]complex128, params.MaxSlots())
	for i := range x {
		x[i] = complex(2*rand.Float64()-1, 2*rand.Float64()-1)
	}
	plain := ckks.NewPlaintext(params, params.MaxLevel())
	if err := ckks.NewEncoder(params).Encode(x, plain); err != nil {
		panic(err)
	}
	a := must(rlwe.NewEncryptor(params, secret).EncryptNew(plain))
	out := ckks.NewCiphertext(params, 1, params.MaxLevel())
	square := must(evaluator.MulRelinNew(a, a))
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	timing("multiply", seconds, func() { check(evaluator.MulRelin(a, a, out)) })
	timing("rotate", seconds, func() { check(evaluator.Rotate(a, 1, out)) })
	timing("rescale", seconds, func() {
		to := ckks.NewCiphertext(params, 1, params.MaxLevel()-1)
		check(evaluator.Rescale(square, to))
	})
	timing("16 rotations", seconds, func() { must(evaluator.RotateHoistedNew(a, steps)) })
}
