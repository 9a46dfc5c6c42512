// SPDX-License-Identifier: Apache-2.0
// The operations of ML-KEM and Kyber as lists of stages, independent of any implementation. Where round 3 differs, the
// shape says so.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "core/scheme.hpp"

namespace polykem::mlkem {

inline constexpr std::array kKeygenStages{
    Stage{"randombytes", "[FIPS203, Alg 19, L1-2]", "-> d, z"},
    Stage{"sha3_512.G", "[FIPS203, Alg 13, L1]", "d, k (round 3: d) -> rho, sigma"},
    Stage{"sample_ntt", "[FIPS203, Alg 13, L3-7]", "rho -> A^"},
    Stage{"sample_poly_cbd", "[FIPS203, Alg 13, L8-15]", "sigma -> s, e"},
    Stage{"ntt", "[FIPS203, Alg 13, L16-17]", "s, e -> s^, e^"},
    Stage{"multiply_ntts", "[FIPS203, Alg 13, L18]", "A^, s^, e^ -> t^ = A^ s^ + e^"},
    Stage{"byte_encode", "[FIPS203, Alg 13, L19-20]", "t^, rho, s^, z -> pk and their parts of sk"},
    Stage{"sha3_256.H", "[FIPS203, Alg 16, L3]", "pk -> H(pk), its part of sk"},
};

inline constexpr std::array kEncapsStages{
    Stage{"randombytes", "[FIPS203, Alg 20, L1]", "-> m (round 3: SHA3-256 of the random bytes)"},
    Stage{"sha3_256.H", "[FIPS203, Alg 17, L1]", "pk -> H(pk)"},
    Stage{"sha3_512.G", "[FIPS203, Alg 17, L1]", "m, H(pk) -> K, r"},
    Stage{"byte_decode", "[FIPS203, Alg 14, L2-3]", "pk -> t^, rho, validity (round 3: always)"},
    Stage{"sample_ntt", "[FIPS203, Alg 14, L4-8]", "rho -> A^"},
    Stage{"sample_poly_cbd", "[FIPS203, Alg 14, L9-17]", "r -> y, e1, e2"},
    Stage{"ntt", "[FIPS203, Alg 14, L18]", "y -> y^"},
    Stage{"multiply_ntts", "[FIPS203, Alg 14, L19-21]", "A^, t^, y^ -> A^T y^, t^T y^"},
    Stage{"inverse_ntt", "[FIPS203, Alg 14, L19-21]", "A^T y^, t^T y^ -> A^T y, t^T y"},
    Stage{"add", "[FIPS203, Alg 14, L19-21]", "A^T y, t^T y, e1, e2, m -> u, v"},
    Stage{"compress_byte_encode", "[FIPS203, Alg 14, L22-23]", "u, v -> c"},
    Stage{"shared_secret", "[FIPS203, Alg 17, L3]", "K (round 3: SHAKE256(K, SHA3-256(c))) -> ss"},
};

inline constexpr std::array kDecapsStages{
    Stage{"sha3_256.H", "[FIPS203, 7.3]", "sk -> its hash of pk is right (round 3: always)"},
    Stage{"byte_decode", "[FIPS203, Alg 15, L1-5]", "c, sk -> u, v, s^, t^, rho"},
    Stage{"ntt.u", "[FIPS203, Alg 15, L6]", "u -> u^"},
    Stage{"multiply_ntts.su", "[FIPS203, Alg 15, L6]", "s^, u^ -> s^T u^"},
    Stage{"inverse_ntt.su", "[FIPS203, Alg 15, L6]", "s^T u^ -> s^T u"},
    Stage{"compress.m", "[FIPS203, Alg 15, L6-7]", "v - s^T u -> m"},
    Stage{"sha3_512.G", "[FIPS203, Alg 18, L6]", "m, H(pk) -> K, r"},
    Stage{"shake256.J", "[FIPS203, Alg 18, L7]", "z, c -> rejection secret (round 3: c -> SHA3-256(c))"},
    Stage{"sample_ntt", "[FIPS203, Alg 14, L4-8]", "rho -> A^"},
    Stage{"sample_poly_cbd", "[FIPS203, Alg 14, L9-17]", "r -> y, e1, e2"},
    Stage{"ntt", "[FIPS203, Alg 14, L18]", "y -> y^"},
    Stage{"multiply_ntts", "[FIPS203, Alg 14, L19-21]", "A^, t^, y^ -> A^T y^, t^T y^"},
    Stage{"inverse_ntt", "[FIPS203, Alg 14, L19-21]", "A^T y^, t^T y^ -> A^T y, t^T y"},
    Stage{"add", "[FIPS203, Alg 14, L19-21]", "A^T y, t^T y, e1, e2, m -> u, v"},
    Stage{"compress_compare", "[FIPS203, Alg 18, L8-9]", "u, v, c -> fail mask"},
    Stage{"cmov", "[FIPS203, Alg 18, L9-12]", "both secrets, fail mask -> ss (round 3: by SHAKE256)"},
};

inline constexpr OpStages kStages{kKeygenStages, kEncapsStages, kDecapsStages};

}  // namespace polykem::mlkem
