// SPDX-License-Identifier: Apache-2.0
// The capabilities of the terminal, if there is one.
#pragma once

#include <cstddef>

namespace polykem::cli {

/// True if `fd` is a terminal that takes escape codes and the user has not turned them off (TERM=dumb, NO_COLOR).
bool takes_escape_codes(int fd);

/// The width of standard output: COLUMNS if set, otherwise the terminal's width, or 80 if it is unknown; without a
/// terminal there is no limit.
std::size_t output_columns();

/// The width for sentences: output_columns(), but no wider than is easy to read, and 80 without a terminal.
std::size_t text_columns();

}  // namespace polykem::cli
