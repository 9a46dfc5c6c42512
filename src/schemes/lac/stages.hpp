// SPDX-License-Identifier: Apache-2.0
// The operations of LAC as lists of stages, in the specification's words. Independent of any implementation.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "core/scheme.hpp"

namespace polykem::lac {

inline constexpr std::array kKeygenStages{
    Stage{"randombytes", "[LAC19, Alg 1]", "-> seed"},
    Stage{"prg", "[LAC19, Alg 1]", "seed -> seed of a, seed of s, seed of e"},
    Stage{"gen_a", "[LAC19, Alg 1]", "seed of a -> a"},
    Stage{"gen_psi_fix", "[LAC19, Alg 1]", "seeds -> s, e of fixed weight"},
    Stage{"poly_aff", "[LAC19, Alg 1]", "a, s, e -> b = a s + e"},
    Stage{"tobytes", "[LAC19, Alg 1]", "seed of a, b, s -> pk, sk"},
};

inline constexpr std::array kEncapsStages{
    Stage{"randombytes", "[LAC19, Alg 4]", "-> m"},
    Stage{"sha256.m", "[LAC19, Alg 4]", "m -> seed"},
    Stage{"prg", "[LAC19, Alg 2]", "seed -> seeds of r, e1, e2"},
    Stage{"gen_a", "[LAC19, Alg 2]", "pk -> a"},
    Stage{"gen_psi_fix", "[LAC19, Alg 2]", "seeds -> r, e1 of fixed weight"},
    Stage{"gen_psi", "[LAC19, Alg 2]", "seed -> e2"},
    Stage{"poly_aff.c1", "[LAC19, Alg 2]", "a, r, e1 -> c1 = a r + e1"},
    Stage{"ecc_enc", "[LAC19, Alg 2]", "m -> code word"},
    Stage{"poly_aff.c2", "[LAC19, Alg 2]", "b, r, e2, code word -> c2 = (b r) + e2 + 125 bits"},
    Stage{"compress", "[LAC19, Alg 2]", "c1, c2 -> ct"},
    Stage{"sha256.ss", "[LAC19, Alg 4]", "m, ct -> ss"},
};

inline constexpr std::array kDecapsStages{
    Stage{"decompress", "[LAC19, Alg 3]", "ct, sk -> c1, c2, s"},
    Stage{"poly_mul", "[LAC19, Alg 3]", "c1, s -> c1 s"},
    Stage{"demodulate", "[LAC19, Alg 3]", "c2 - c1 s -> received word"},
    Stage{"ecc_dec", "[LAC19, Alg 3]", "received word -> m"},
    Stage{"sha256.m", "[LAC19, Alg 5]", "m -> seed"},
    Stage{"prg", "[LAC19, Alg 2]", "seed -> seeds of r, e1, e2"},
    Stage{"gen_a", "[LAC19, Alg 2]", "pk -> a"},
    Stage{"gen_psi_fix", "[LAC19, Alg 2]", "seeds -> r, e1 of fixed weight"},
    Stage{"gen_psi", "[LAC19, Alg 2]", "seed -> e2"},
    Stage{"poly_aff.c1", "[LAC19, Alg 2]", "a, r, e1 -> c1 = a r + e1"},
    Stage{"ecc_enc", "[LAC19, Alg 2]", "m -> code word"},
    Stage{"poly_aff.c2", "[LAC19, Alg 2]", "b, r, e2, code word -> c2 = (b r) + e2 + 125 bits"},
    Stage{"compress_compare", "[LAC19, Alg 5]", "c1, c2, ct -> fail mask"},
    Stage{"sha256.reject", "[LAC19, Alg 5]", "s -> rejection key"},
    Stage{"sha256.ss", "[LAC19, Alg 5]", "m or rejection key, ct -> ss"},
};

inline constexpr OpStages kStages{kKeygenStages, kEncapsStages, kDecapsStages};

}  // namespace polykem::lac
