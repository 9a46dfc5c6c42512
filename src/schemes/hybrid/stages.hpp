// SPDX-License-Identifier: Apache-2.0
// The operations of the hybrids as lists of stages.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "core/scheme.hpp"

namespace polykem::hybrid {

inline constexpr std::array kKeygenStages{
    Stage{"randombytes", "[HYBRIDKEMS, 4.1]", "-> seed"},
    Stage{"expand_seed", "[HYBRIDKEMS, 5.1.1]", "seed -> d, z, scalar (TLS: the seed has all three)"},
    Stage{"kem_keygen", "[FIPS203, Alg 16]", "d, z -> ek, dk"},
    Stage{"ecdh_keygen", "[HYBRIDKEMS, 4.2]", "scalar -> point"},
};

inline constexpr std::array kEncapsStages{
    Stage{"randombytes", "[HYBRIDKEMS, 5.5.1]", "-> m, scalar"},
    Stage{"kem_encaps", "[FIPS203, Alg 17]", "ek, m -> c, K"},
    Stage{"ecdh_keygen", "[HYBRIDKEMS, 4.2]", "scalar -> point"},
    Stage{"ecdh_derive", "[HYBRIDKEMS, 4.2]", "scalar, the key's point -> its secret, validity"},
    Stage{"combine", "[HYBRIDKEMS, 5.5.1]", "both secrets, points -> ss (TLS: both secrets, joined)"},
};

inline constexpr std::array kDecapsStages{
    Stage{"expand_seed", "[HYBRIDKEMS, 5.1.1]", "seed -> dk, scalar, point (TLS: the key has them)"},
    Stage{"kem_decaps", "[FIPS203, Alg 18]", "dk, c -> K"},
    Stage{"ecdh_derive", "[HYBRIDKEMS, 4.2]", "scalar, the ciphertext's point -> its secret, validity"},
    Stage{"combine", "[HYBRIDKEMS, 5.5.1]", "both secrets, points -> ss (TLS: both secrets, joined)"},
};

inline constexpr OpStages kStages{kKeygenStages, kEncapsStages, kDecapsStages};

}  // namespace polykem::hybrid
