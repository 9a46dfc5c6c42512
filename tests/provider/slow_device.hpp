// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

extern "C" {
/// Operations take so long from now on, those that wait together as one batch; 0: they are passed to the library.
void polykem_slow_device_set(unsigned microseconds);
/// Operations wait from now on until polykem_slow_device_release() lets those go that wait, or a thread waits for one.
void polykem_slow_device_hold();
void polykem_slow_device_release();
/// Results are written from now on, and then said to have failed.
void polykem_slow_device_fail(bool fails);
/// A bit of each signature that is made from now on is wrong.
void polykem_slow_device_forge(bool forges);
/// Tickets that are not freed yet.
std::size_t polykem_slow_device_tickets();
}
