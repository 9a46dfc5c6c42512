// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

extern "C" {
/// Sets the time of further operations; those that wait together are one batch. 0: the library computes them.
void polykem_slow_device_set(unsigned microseconds);
/// Makes further operations wait until polykem_slow_device_release() releases them, or a thread waits for one.
void polykem_slow_device_hold();
void polykem_slow_device_release();
/// Makes further operations write results and then report a failure.
void polykem_slow_device_fail(bool fails);
/// Makes a bit of each further signature wrong.
void polykem_slow_device_forge(bool forges);
/// Returns the number of tickets that have not been freed.
std::size_t polykem_slow_device_tickets();
}
