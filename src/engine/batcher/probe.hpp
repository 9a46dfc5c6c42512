// SPDX-License-Identifier: Apache-2.0
// What the CPU computes on the calling thread: an operation for its caller, and what other executors must come to as
// well.
#pragma once

#include <vector>

#include "engine/batcher/queues.hpp"

namespace polykem {

/// Computes the ticket, which the caller has claimed, and finishes it.
Status compute_now(Engine& engine, Ticket& ticket);
/// The ticket of `inputs`, finished, with fresh coins where they are missing; nullptr if the CPU cannot.
Ticket* computed(Engine& engine, const Request& inputs);
/// Finished tickets of the queue's operation; empty if the CPU cannot.
std::vector<Ticket*> make_probe(Engine& engine, const TicketQueue& queue);

}  // namespace polykem
