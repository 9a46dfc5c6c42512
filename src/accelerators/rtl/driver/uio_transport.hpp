// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "accelerators/rtl/driver/transport.hpp"
#include "accelerators/rtl/driver/uio_device.hpp"

namespace polykem::rtl {

/// The core of the device. What passes through the buffer is zeroized after each command.
std::unique_ptr<Transport> make_uio_transport(std::unique_ptr<UioDevice> device);

}  // namespace polykem::rtl
