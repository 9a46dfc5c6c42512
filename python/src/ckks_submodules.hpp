// SPDX-License-Identifier: Apache-2.0
// The functions that add CKKS to the module. ckks/python/src defines them.
#pragma once

#include <nanobind/nanobind.h>

namespace polykem::python {

/// Only where CKKS is built.
void bind_ckks(nanobind::module_& m);
/// Files of OpenFHE; only where nlohmann-json is, too.
void bind_openfhe(nanobind::module_& m);

}  // namespace polykem::python
