// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace polykem::python {

/// Adds HPKE to the module; only where OpenSSL is.
void bind_hpke(nanobind::module_& m);

}  // namespace polykem::python
