// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/backend.hpp"
#include "core/operations.hpp"
#include "schemes/ntru/kem.hpp"
#include "schemes/ntru/ref/steps.hpp"

namespace polykem::ntru::ref {

template <NtruParams P>
inline constexpr SchemeBackend kBackend =
    scheme_backend<Operations<Kem<Steps<P, PortablePrims>>, State<P, PortablePrims>>>(cpu::kRef);

}  // namespace polykem::ntru::ref
