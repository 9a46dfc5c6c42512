// SPDX-License-Identifier: Apache-2.0
// NTRU's operations as lists of stages, in the specification's words. Nothing here knows an implementation.
#pragma once

#include <array>

#include "core/plan.hpp"

namespace polykem::ntru {

inline constexpr std::array kKeygenStages{
    Stage{"randombytes", "[NTRU20, 1.12.1]", "-> seed bytes, PRF key"},
    Stage{"sample_fg", "[NTRU20, 1.10.1]", "seed bytes -> f, g ternary"},
    Stage{"poly_S3_inv", "[NTRU20, 1.9.3]", "f -> 1/f mod (3, Phi_n)"},
    Stage{"poly_S3_tobytes", "[NTRU20, 1.8.7]", "f, 1/f, PRF key -> their parts of sk"},
    Stage{"poly_Z3_to_Zq", "[NTRU20, 1.11.1]", "f, g ternary -> f, G = 3g or 3(x-1)g mod q"},
    Stage{"poly_Rq_mul.Gf", "[NTRU20, 1.11.1]", "G, f -> G f mod (q, x^n-1)"},
    Stage{"poly_Rq_inv", "[NTRU20, 1.9.4]", "G f -> v = 1/(G f) mod (q, Phi_n)"},
    Stage{"poly_Rq_mul.vf", "[NTRU20, 1.11.1]", "v, f -> v f"},
    Stage{"poly_Sq_mul.invh", "[NTRU20, 1.11.1]", "v f, f -> 1/h = v f f mod (q, Phi_n)"},
    Stage{"poly_Sq_tobytes", "[NTRU20, 1.8.6]", "1/h -> its part of sk"},
    Stage{"poly_Rq_mul.vG", "[NTRU20, 1.11.1]", "v, G -> v G"},
    Stage{"poly_Rq_mul.h", "[NTRU20, 1.11.1]", "v G, G -> h = v G G mod (q, x^n-1)"},
    Stage{"poly_Rq_sum_zero_tobytes", "[NTRU20, 1.8.3]", "h -> pk"},
};

inline constexpr std::array kEncapsStages{
    Stage{"randombytes", "[NTRU20, 1.12.2]", "-> seed bytes"},
    Stage{"sample_rm", "[NTRU20, 1.10.2]", "seed bytes -> r, m ternary"},
    Stage{"poly_S3_tobytes", "[NTRU20, 1.8.7]", "r, m -> rm bytes"},
    Stage{"sha3_256", "[NTRU20, 1.12.2]", "rm bytes -> ss"},
    Stage{"poly_Rq_sum_zero_frombytes", "[NTRU20, 1.8.4]", "pk -> h"},
    Stage{"poly_Rq_mul", "[NTRU20, 1.11.2]", "h, r -> h r mod (q, x^n-1)"},
    Stage{"poly_lift_add", "[NTRU20, 1.9.5]", "h r, m -> c = h r + Lift(m)"},
    Stage{"poly_Rq_sum_zero_tobytes", "[NTRU20, 1.8.3]", "c -> ct"},
};

inline constexpr std::array kDecapsStages{
    Stage{"frombytes", "[NTRU20, 1.11.3]", "ct, sk -> c, f, 1/f, 1/h"},
    Stage{"poly_Rq_mul.cf", "[NTRU20, 1.11.3]", "c, f -> c f mod (q, x^n-1)"},
    Stage{"poly_Rq_to_S3", "[NTRU20, 1.11.3]", "c f -> c f centred mod q, then mod (3, Phi_n)"},
    Stage{"poly_S3_mul", "[NTRU20, 1.11.3]", "c f, 1/f -> m mod (3, Phi_n)"},
    Stage{"poly_lift_sub", "[NTRU20, 1.9.5]", "c, m -> c - Lift(m)"},
    Stage{"poly_Sq_mul", "[NTRU20, 1.11.3]", "c - Lift(m), 1/h -> r mod (q, Phi_n)"},
    Stage{"check_rm", "[NTRU20, 1.11.3]", "r, m, ct -> fail mask, r ternary"},
    Stage{"poly_S3_tobytes", "[NTRU20, 1.8.7]", "r, m -> rm bytes"},
    Stage{"sha3_256", "[NTRU20, 1.12.3]", "rm bytes -> ss"},
    Stage{"sha3_256.reject", "[NTRU20, 1.12.3]", "PRF key, ct -> rejection secret"},
    Stage{"cmov", "[NTRU20, 1.12.3]", "both secrets, fail mask -> ss"},
};

}  // namespace polykem::ntru
