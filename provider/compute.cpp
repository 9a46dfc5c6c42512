// SPDX-License-Identifier: Apache-2.0
#include "compute.hpp"

namespace polykem::provider {

Compute::~Compute() {
  polykem_context_free(context_.load());
}

/** Without a lock, which another thread might hold while the process forks. */
polykem_status Compute::context(polykem_context*& out) {
  out = context_.load(std::memory_order_acquire);
  if (out != nullptr) return POLYKEM_OK;
  const polykem_config config{sizeof(polykem_config), config_.threads,
                              config_.backend.empty() ? nullptr : config_.backend.c_str()};
  polykem_context* fresh = nullptr;
  const polykem_status status = polykem_context_new(&config, &fresh);
  if (status != POLYKEM_OK) return status;
  if (context_.compare_exchange_strong(out, fresh)) {
    out = fresh;
  } else {
    polykem_context_free(fresh);
  }
  return POLYKEM_OK;
}

polykem_status Compute::run(const polykem_request& request) {
  polykem_context* mine = nullptr;
  const polykem_status status = context(mine);
  if (status != POLYKEM_OK) return status;
  polykem_status item = POLYKEM_OK;
  polykem_request one = request;
  one.struct_size = sizeof one;
  one.count = 1;
  one.item_status = &item;
  const polykem_status all = polykem_run(mine, &one);
  return all == POLYKEM_ERR_ITEMS ? item : all;
}

}  // namespace polykem::provider
