// SPDX-License-Identifier: Apache-2.0
// Operations that the CPU computes on the calling thread: for their caller, or for probes, which must reproduce the
// results.
#pragma once

#include <vector>

#include "engine/batcher/queues.hpp"

namespace polykem {

/// Computes and finishes a ticket that the caller has claimed.
Status compute_now(Engine& engine, Ticket& ticket);
/// A finished ticket for `inputs`, with fresh coins where they are missing; nullptr if the CPU cannot compute it.
Ticket* computed(Engine& engine, const Request& inputs);
/// Finished tickets of the queue's operation; empty if the CPU cannot compute them.
std::vector<Ticket*> make_probe(Engine& engine, const TicketQueue& queue);

}  // namespace polykem
