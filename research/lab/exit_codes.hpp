// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polykem::lab {

enum Exit { kOk = 0, kWrong = 1, kUsage = 2, kNothing = 4, kFailed = 5 };

}  // namespace polykem::lab
