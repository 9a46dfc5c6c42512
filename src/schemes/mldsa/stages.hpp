// SPDX-License-Identifier: Apache-2.0
// The operations of ML-DSA as lists of stages, in the specification's words, independent of any implementation.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "core/scheme.hpp"

namespace polykem::mldsa {

inline constexpr std::array kKeygenStages{
    Stage{"randombytes", "[FIPS204, Alg 1, L1]", "-> xi"},
    Stage{"shake256.seed", "[FIPS204, Alg 6, L1]", "xi -> rho, rho', K"},
    Stage{"expand_a", "[FIPS204, Alg 6, L3]", "rho -> A^"},
    Stage{"expand_s", "[FIPS204, Alg 6, L4]", "rho' -> s1, s2"},
    Stage{"ntt", "[FIPS204, Alg 6, L5]", "s1 -> s1^"},
    Stage{"multiply", "[FIPS204, Alg 6, L5]", "A^, s1^ -> A^ s1^"},
    Stage{"inverse_ntt", "[FIPS204, Alg 6, L5]", "A^ s1^, s2 -> t"},
    Stage{"power2round_pack", "[FIPS204, Alg 6, L6-8]", "t, rho -> pk and t0, its part of sk"},
    Stage{"shake256.tr", "[FIPS204, Alg 6, L9]", "pk -> tr"},
    Stage{"pack_sk", "[FIPS204, Alg 6, L10]", "rho, K, tr, s1, s2 -> their parts of sk"},
};

/// The stages from expand_mask on are computed once for each attempt.
inline constexpr std::array kSignStages{
    Stage{"randombytes", "[FIPS204, Alg 2, L5-8]", "-> rnd"},
    Stage{"unpack_sk", "[FIPS204, Alg 7, L1]", "sk -> rho, K, tr, s1, s2, t0"},
    Stage{"ntt.key", "[FIPS204, Alg 7, L2-4]", "s1, s2, t0 -> their transforms"},
    Stage{"expand_a", "[FIPS204, Alg 7, L5]", "rho -> A^"},
    Stage{"shake256.mu", "[FIPS204, Alg 7, L6]", "tr, M' -> mu"},
    Stage{"shake256.seed", "[FIPS204, Alg 7, L7]", "K, rnd, mu -> rho''"},
    Stage{"expand_mask", "[FIPS204, Alg 7, L11]", "rho'', kappa -> y"},
    Stage{"ntt.y", "[FIPS204, Alg 7, L12]", "y -> y^"},
    Stage{"multiply.ay", "[FIPS204, Alg 7, L12]", "A^, y^ -> A^ y^"},
    Stage{"inverse_ntt.w", "[FIPS204, Alg 7, L12]", "A^ y^ -> w"},
    Stage{"high_bits", "[FIPS204, Alg 7, L13, L15]", "w -> w1, its bytes, LowBits(w)"},
    Stage{"shake256.c", "[FIPS204, Alg 7, L15]", "mu, w1 -> c~"},
    Stage{"sample_in_ball", "[FIPS204, Alg 7, L16-17]", "c~ -> c^"},
    Stage{"response", "[FIPS204, Alg 7, L18, L20, L23]", "c^, s1^, y -> z, whether it is small"},
    Stage{"low_bits", "[FIPS204, Alg 7, L19, L21, L23]", "c^, s2^, LowBits(w) -> r0, whether it is small"},
    Stage{"hint", "[FIPS204, Alg 7, L25-28]", "c^, t0^, r0, w1 -> h, whether it is short"},
    Stage{"pack_signature", "[FIPS204, Alg 7, L33]", "c~, z, h -> signature"},
};

inline constexpr std::array kVerifyStages{
    Stage{"unpack", "[FIPS204, Alg 8, L1-4]", "pk, signature -> rho, t1, c~, z, h, whether they are well-formed"},
    Stage{"expand_a", "[FIPS204, Alg 8, L5]", "rho -> A^"},
    Stage{"shake256.tr", "[FIPS204, Alg 8, L6]", "pk -> tr"},
    Stage{"shake256.mu", "[FIPS204, Alg 8, L7]", "tr, M' -> mu"},
    Stage{"sample_in_ball", "[FIPS204, Alg 8, L8]", "c~ -> c^"},
    Stage{"ntt", "[FIPS204, Alg 8, L9]", "z, t1 -> their transforms"},
    Stage{"multiply", "[FIPS204, Alg 8, L9]", "A^, z^, c^, t1^ -> A^ z^ - c^ t1^"},
    Stage{"inverse_ntt", "[FIPS204, Alg 8, L9]", "A^ z^ - c^ t1^ -> w'"},
    Stage{"use_hint", "[FIPS204, Alg 8, L10]", "h, w' -> bytes of w1'"},
    Stage{"shake256.c", "[FIPS204, Alg 8, L12]", "mu, w1' -> c~'"},
    Stage{"compare", "[FIPS204, Alg 8, L13]", "c~, c~' -> valid or not"},
};

}  // namespace polykem::mldsa
