// SPDX-License-Identifier: Apache-2.0
// Models of the instructions of kernels.cpp, lane by lane.
#pragma once

#include "rates.hpp"

namespace polykem::bench::cpu_rates::model {

void add(Register& value, const Register& operand);
void ternary(Register& value, const Register& operand);
void rotate(Register& value, const Register& operand);
void shift(Register& value, const Register& operand);
void multiply(Register& value, const Register& operand);
void multiply_pairs(Register& value, const Register& operand);
void minimum(Register& value, const Register& operand);
void permute(Register& value, const Register& operand);
void aes(Register& value, const Register& operand);

}  // namespace polykem::bench::cpu_rates::model
