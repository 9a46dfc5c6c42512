// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schemes/ntru/backend.hpp"
#include "schemes/ntru/ref/ops.hpp"

namespace polykem::ntru::ref {

template <NtruParams P>
inline constexpr SchemeBackend kBackend =
    Operations<Kem<Ops<P, PortablePrims>>, Chunk<P, PortablePrims>>::backend(BackendId::ref);

}  // namespace polykem::ntru::ref
