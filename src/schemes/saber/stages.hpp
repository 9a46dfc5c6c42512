// SPDX-License-Identifier: Apache-2.0
// The operations of Saber as lists of stages, independent of any implementation.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "core/scheme.hpp"

namespace polykem::saber {

inline constexpr std::array kKeygenStages{
    Stage{"randombytes", "[SABER20, Saber.PKE.KeyGen]", "-> seed_A, seed_s, z"},
    Stage{"shake128", "[SABER20, Saber.PKE.KeyGen]", "seed_A -> seed_A, as it is published"},
    Stage{"gen_matrix", "[SABER20, GenMatrix]", "seed_A -> A"},
    Stage{"gen_secret", "[SABER20, GenSecret]", "seed_s -> s"},
    Stage{"matrix_vector_mul", "[SABER20, MatrixVectorMul]", "A, s -> A^T s"},
    Stage{"round_tobytes", "[SABER20, POLVECp2BS]", "A^T s, seed_A, s, z -> pk = (seed_A, b) and their parts of sk"},
    Stage{"sha3_256.pk", "[SABER20, Saber.KEM.KeyGen]", "pk -> H(pk), its part of sk"},
};

inline constexpr std::array kEncapsStages{
    Stage{"randombytes", "[SABER20, Saber.KEM.Encaps]", "-> m = SHA3-256 of the random bytes"},
    Stage{"sha3_256.pk", "[SABER20, Saber.KEM.Encaps]", "pk -> H(pk)"},
    Stage{"sha3_512", "[SABER20, Saber.KEM.Encaps]", "m, H(pk) -> K, r"},
    Stage{"gen_matrix", "[SABER20, GenMatrix]", "pk -> A, b"},
    Stage{"gen_secret", "[SABER20, GenSecret]", "r -> s'"},
    Stage{"matrix_vector_mul", "[SABER20, MatrixVectorMul]", "A, b, s' -> A s', v' = b^T s'"},
    Stage{"round_tobytes", "[SABER20, Saber.PKE.Enc]", "A s', v', m -> c = (b', c_m)"},
    Stage{"sha3_256.c", "[SABER20, Saber.KEM.Encaps]", "c, K -> ss = SHA3-256(K, SHA3-256(c))"},
};

inline constexpr std::array kDecapsStages{
    Stage{"frombytes", "[SABER20, BS2POLVECp]", "c, sk -> b', c_m, s"},
    Stage{"inner_prod", "[SABER20, InnerProd]", "b', s -> v = b'^T s"},
    Stage{"tomsg", "[SABER20, Saber.PKE.Dec]", "v, c_m -> m"},
    Stage{"sha3_512", "[SABER20, Saber.KEM.Decaps]", "m, H(pk) -> K, r"},
    Stage{"gen_matrix", "[SABER20, GenMatrix]", "sk -> A, b"},
    Stage{"gen_secret", "[SABER20, GenSecret]", "r -> s'"},
    Stage{"matrix_vector_mul", "[SABER20, MatrixVectorMul]", "A, b, s' -> A s', v' = b^T s'"},
    Stage{"round_compare", "[SABER20, Verify]", "A s', v', m, c -> fail mask"},
    Stage{"sha3_256.c", "[SABER20, Saber.KEM.Decaps]", "c -> SHA3-256(c)"},
    Stage{"cmov", "[SABER20, Saber.KEM.Decaps]", "K or z by the fail mask, SHA3-256(c) -> ss"},
};

inline constexpr OpStages kStages{kKeygenStages, kEncapsStages, kDecapsStages};

}  // namespace polykem::saber
