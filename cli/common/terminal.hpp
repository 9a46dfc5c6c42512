// SPDX-License-Identifier: Apache-2.0
// Capabilities of the terminal, if there is one.
#pragma once

#include <cstddef>

namespace polykem::cli {

/// True if `fd` is a terminal that takes escape codes, and the user has not forbidden them (TERM=dumb, NO_COLOR).
bool takes_escape_codes(int fd);

/// Columns that standard output has: COLUMNS if set, else what the terminal says, else 80 on a terminal; without a
/// terminal there is no limit.
std::size_t output_columns();

/// Columns in which standard output gets sentences: output_columns(), but no more than are easy to read, and 80 without
/// a terminal.
std::size_t text_columns();

}  // namespace polykem::cli
