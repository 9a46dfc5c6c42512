// SPDX-License-Identifier: Apache-2.0
// What device headers include; see cuda_host.hpp.
#pragma once

#include "tools/proofs/wrappers/cuda_host.hpp"
