// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's operations as lists of stages. Independent of any implementation.
#pragma once

#include <array>

#include "core/scheme.hpp"

namespace polykem::frodo {

inline constexpr std::array kKeygenStages{
    Stage{"randombytes", "[FRODO21, Alg 12, L1]", "-> s, seedSE, z"},
    Stage{"shake.seed_a", "[FRODO21, Alg 12, L2]", "z -> seedA"},
    Stage{"shake.r", "[FRODO21, Alg 12, L4]", "0x5f, seedSE -> 4 n nbar bytes r"},
    Stage{"sample_matrix", "[FRODO21, Alg 12, L5-6]", "r -> S transposed (nbar x n), E (n x nbar)"},
    Stage{"gen_a", "[FRODO21, Alg 12, L3]", "seedA -> rows of A (n x n)"},
    Stage{"matmul.as", "[FRODO21, Alg 12, L7]", "A, S, E -> rows of B = A S + E"},
    Stage{"pack", "[FRODO21, Alg 12, L8]", "seedA, B -> pk"},
    Stage{"shake.pkh", "[FRODO21, Alg 12, L9]", "pk -> pkh"},
    Stage{"store_sk", "[FRODO21, Alg 12, L10]", "s, pk, S transposed, pkh -> sk"},
};

inline constexpr std::array kEncapsStages{
    Stage{"randombytes", "[FRODO21, Alg 13, L1; FRODOISO]", "-> mu, salt"},
    Stage{"shake.pkh", "[FRODO21, Alg 13, L2]", "pk -> pkh"},
    Stage{"shake.seed_se", "[FRODO21, Alg 13, L2; FRODOISO]", "pkh, mu, salt -> seedSE, k"},
    Stage{"shake.r", "[FRODO21, Alg 13, L3]", "0x96, seedSE -> 2 (2 n nbar + nbar^2) bytes r"},
    Stage{"sample_matrix", "[FRODO21, Alg 13, L4-5 and L9]", "r -> S', E' (nbar x n), E'' (nbar x nbar)"},
    Stage{"gen_a", "[FRODO21, Alg 13, L6]", "seedA -> rows of A (n x n)"},
    Stage{"matmul.sa", "[FRODO21, Alg 13, L7]", "S', A, E' -> B' = S' A + E'"},
    Stage{"pack.c1", "[FRODO21, Alg 13, L8]", "B' -> c1"},
    Stage{"unpack.b", "[FRODO21, Alg 13, L10]", "pk -> B (n x nbar)"},
    Stage{"matmul.sb", "[FRODO21, Alg 13, L11]", "S', B, E'' -> V = S' B + E''"},
    Stage{"encode", "[FRODO21, Alg 13, L12]", "V, mu -> C = V + Encode(mu)"},
    Stage{"pack.c2", "[FRODO21, Alg 13, L13]", "C -> c2"},
    Stage{"shake.ss", "[FRODO21, Alg 13, L14; FRODOISO]", "c1, c2, salt, k -> ss"},
};

inline constexpr std::array kDecapsStages{
    Stage{"unpack.c", "[FRODO21, Alg 14, L1-2]", "c1, c2 -> B' (nbar x n), C (nbar x nbar)"},
    Stage{"matmul.bs", "[FRODO21, Alg 14, L3]", "B', S, C -> M = C - B' S"},
    Stage{"decode", "[FRODO21, Alg 14, L4]", "M -> mu'"},
    Stage{"shake.seed_se", "[FRODO21, Alg 14, L6; FRODOISO]", "pkh, mu', salt -> seedSE', k'"},
    Stage{"shake.r", "[FRODO21, Alg 14, L7]", "0x96, seedSE' -> 2 (2 n nbar + nbar^2) bytes r"},
    Stage{"sample_matrix", "[FRODO21, Alg 14, L8-9 and L12]", "r -> S', E' (nbar x n), E'' (nbar x nbar)"},
    Stage{"gen_a", "[FRODO21, Alg 14, L10]", "seedA -> rows of A (n x n)"},
    Stage{"matmul.sa", "[FRODO21, Alg 14, L11]", "S', A, E' -> B'' = S' A + E'"},
    Stage{"unpack.b", "[FRODO21, Alg 14, L13]", "pk -> B (n x nbar)"},
    Stage{"matmul.sb", "[FRODO21, Alg 14, L14]", "S', B, E'' -> V = S' B + E''"},
    Stage{"encode", "[FRODO21, Alg 14, L15]", "V, mu' -> C' = V + Encode(mu')"},
    Stage{"compare", "[FRODO21, Alg 14, L16]", "B'', C', ct -> fail mask"},
    Stage{"select", "[FRODO21, Alg 14, L16-18]", "k', s, fail mask -> k' or s"},
    Stage{"shake.ss", "[FRODO21, Alg 14, L16-18; FRODOISO]", "c1, c2, salt, k' or s -> ss"},
};

inline constexpr OpStages kStages{kKeygenStages, kEncapsStages, kDecapsStages};

}  // namespace polykem::frodo
