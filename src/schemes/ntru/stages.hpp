// SPDX-License-Identifier: Apache-2.0
// NTRU's operations as lists of stages. Independent of any implementation.
#pragma once

#include <array>

#include "core/scheme.hpp"

namespace polykem::ntru {

inline constexpr std::array kKeygenStages{
    Stage{"randombytes", "[NTRU20, Key_Pair]", "-> seed bytes, PRF key"},
    Stage{"sample_fg", "[NTRU20, Sample_fg]", "seed bytes -> f, g ternary"},
    Stage{"poly_S3_inv", "[NTRU20, S3_inverse]", "f -> 1/f mod (3, Phi_n)"},
    Stage{"poly_S3_tobytes", "[NTRU20, pack_S3]", "f, 1/f, PRF key -> their parts of sk"},
    Stage{"poly_Z3_to_Zq", "[NTRU20, DPKE_Key_Pair]", "f, g ternary -> f, G = 3g or 3(x-1)g mod q"},
    Stage{"poly_Rq_mul.Gf", "[NTRU20, DPKE_Key_Pair]", "G, f -> G f mod (q, x^n-1)"},
    Stage{"poly_Rq_inv", "[NTRU20, Sq_inverse]", "G f -> v = 1/(G f) mod (q, Phi_n)"},
    Stage{"poly_Rq_mul.vf", "[NTRU20, DPKE_Key_Pair]", "v, f -> v f"},
    Stage{"poly_Sq_mul.invh", "[NTRU20, DPKE_Key_Pair]", "v f, f -> 1/h = v f f mod (q, Phi_n)"},
    Stage{"poly_Sq_tobytes", "[NTRU20, pack_Sq]", "1/h -> its part of sk"},
    Stage{"poly_Rq_mul.vG", "[NTRU20, DPKE_Key_Pair]", "v, G -> v G"},
    Stage{"poly_Rq_mul.h", "[NTRU20, DPKE_Key_Pair]", "v G, G -> h = v G G mod (q, x^n-1)"},
    Stage{"poly_Rq_sum_zero_tobytes", "[NTRU20, pack_Rq0]", "h -> pk"},
};

inline constexpr std::array kEncapsStages{
    Stage{"randombytes", "[NTRU20, Encapsulate]", "-> seed bytes"},
    Stage{"sample_rm", "[NTRU20, Sample_rm]", "seed bytes -> r, m ternary"},
    Stage{"poly_S3_tobytes", "[NTRU20, pack_S3]", "r, m -> rm bytes"},
    Stage{"sha3_256", "[NTRU20, Encapsulate]", "rm bytes -> ss"},
    Stage{"poly_Rq_sum_zero_frombytes", "[NTRU20, unpack_Rq0]", "pk -> h"},
    Stage{"poly_Rq_mul", "[NTRU20, DPKE_Encrypt]", "h, r -> h r mod (q, x^n-1)"},
    Stage{"poly_lift_add", "[NTRU20, Lift]", "h r, m -> c = h r + Lift(m)"},
    Stage{"poly_Rq_sum_zero_tobytes", "[NTRU20, pack_Rq0]", "c -> ct"},
};

inline constexpr std::array kDecapsStages{
    Stage{"frombytes", "[NTRU20, DPKE_Decrypt]", "ct, sk -> c, f, 1/f, 1/h"},
    Stage{"poly_Rq_mul.cf", "[NTRU20, DPKE_Decrypt]", "c, f -> c f mod (q, x^n-1)"},
    Stage{"poly_Rq_to_S3", "[NTRU20, DPKE_Decrypt]", "c f -> c f centred mod q, then mod (3, Phi_n)"},
    Stage{"poly_S3_mul", "[NTRU20, DPKE_Decrypt]", "c f, 1/f -> m mod (3, Phi_n)"},
    Stage{"poly_lift_sub", "[NTRU20, Lift]", "c, m -> c - Lift(m)"},
    Stage{"poly_Sq_mul", "[NTRU20, DPKE_Decrypt]", "c - Lift(m), 1/h -> r mod (q, Phi_n)"},
    Stage{"check_rm", "[NTRU20, DPKE_Decrypt]", "r, m, ct -> fail mask, r ternary"},
    Stage{"poly_S3_tobytes", "[NTRU20, pack_S3]", "r, m -> rm bytes"},
    Stage{"sha3_256", "[NTRU20, Decapsulate]", "rm bytes -> ss"},
    Stage{"sha3_256.reject", "[NTRU20, Decapsulate]", "PRF key, ct -> rejection secret"},
    Stage{"cmov", "[NTRU20, Decapsulate]", "both secrets, fail mask -> ss"},
};

inline constexpr OpStages kStages{kKeygenStages, kEncapsStages, kDecapsStages};

}  // namespace polykem::ntru
