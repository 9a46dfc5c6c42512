// SPDX-License-Identifier: Apache-2.0
// The operations of LAC as lists of stages. Independent of any implementation.
#pragma once

#include <array>

#include "core/plan.hpp"
#include "core/scheme.hpp"

namespace polykem::lac {

inline constexpr std::array kKeygenStages{
    Stage{"randombytes", "[LAC19, LAC.CPA.KG]", "-> seed"},
    Stage{"prg", "[LAC19, LAC.CPA.KG]", "seed -> seed of a, seed of s, seed of e"},
    Stage{"gen_a", "[LAC19, LAC.CPA.KG]", "seed of a -> a"},
    Stage{"gen_psi_fix", "[LAC19, LAC.CPA.KG]", "seeds -> s, e of fixed weight"},
    Stage{"poly_aff", "[LAC19, LAC.CPA.KG]", "a, s, e -> b = a s + e"},
    Stage{"tobytes", "[LAC19, LAC.CPA.KG]", "seed of a, b, s -> pk, sk"},
};

inline constexpr std::array kEncapsStages{
    Stage{"randombytes", "[LAC19, LAC.CCA.Enc]", "-> m"},
    Stage{"sha256.m", "[LAC19, LAC.CCA.Enc]", "m -> seed"},
    Stage{"prg", "[LAC19, LAC.CPA.Enc]", "seed -> seeds of r, e1, e2"},
    Stage{"gen_a", "[LAC19, LAC.CPA.Enc]", "pk -> a"},
    Stage{"gen_psi_fix", "[LAC19, LAC.CPA.Enc]", "seeds -> r, e1 of fixed weight"},
    Stage{"gen_psi", "[LAC19, LAC.CPA.Enc]", "seed -> e2"},
    Stage{"poly_aff.c1", "[LAC19, LAC.CPA.Enc]", "a, r, e1 -> c1 = a r + e1"},
    Stage{"ecc_enc", "[LAC19, LAC.CPA.Enc]", "m -> code word"},
    Stage{"poly_aff.c2", "[LAC19, LAC.CPA.Enc]", "b, r, e2, code word -> c2 = (b r) + e2 + 125 bits"},
    Stage{"compress", "[LAC19, LAC.CPA.Enc]", "c1, c2 -> ct"},
    Stage{"sha256.ss", "[LAC19, LAC.CCA.Enc]", "m, ct -> ss"},
};

inline constexpr std::array kDecapsStages{
    Stage{"decompress", "[LAC19, LAC.CPA.Dec]", "ct, sk -> c1, c2, s"},
    Stage{"poly_mul", "[LAC19, LAC.CPA.Dec]", "c1, s -> c1 s"},
    Stage{"demodulate", "[LAC19, LAC.CPA.Dec]", "c2 - c1 s -> received word"},
    Stage{"ecc_dec", "[LAC19, LAC.CPA.Dec]", "received word -> m"},
    Stage{"sha256.m", "[LAC19, LAC.CCA.Dec]", "m -> seed"},
    Stage{"prg", "[LAC19, LAC.CPA.Enc]", "seed -> seeds of r, e1, e2"},
    Stage{"gen_a", "[LAC19, LAC.CPA.Enc]", "pk -> a"},
    Stage{"gen_psi_fix", "[LAC19, LAC.CPA.Enc]", "seeds -> r, e1 of fixed weight"},
    Stage{"gen_psi", "[LAC19, LAC.CPA.Enc]", "seed -> e2"},
    Stage{"poly_aff.c1", "[LAC19, LAC.CPA.Enc]", "a, r, e1 -> c1 = a r + e1"},
    Stage{"ecc_enc", "[LAC19, LAC.CPA.Enc]", "m -> code word"},
    Stage{"poly_aff.c2", "[LAC19, LAC.CPA.Enc]", "b, r, e2, code word -> c2 = (b r) + e2 + 125 bits"},
    Stage{"compress_compare", "[LAC19, LAC.CCA.Dec]", "c1, c2, ct -> fail mask"},
    Stage{"sha256.reject", "[LAC19, LAC.CCA.Dec]", "s -> rejection key"},
    Stage{"sha256.ss", "[LAC19, LAC.CCA.Dec]", "m or rejection key, ct -> ss"},
};

inline constexpr OpStages kStages{kKeygenStages, kEncapsStages, kDecapsStages};

}  // namespace polykem::lac
