// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "accelerators/rtl/driver/model.hpp"
#include "accelerators/rtl/driver/transport.hpp"

namespace polykem::rtl {

/// A simulated core of its own, after its reset; nullptr if there is no memory for one.
std::unique_ptr<Transport> open_model(const ModelTable& model);

}  // namespace polykem::rtl
