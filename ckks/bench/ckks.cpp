// SPDX-License-Identifier: Apache-2.0
#include "ckks.hpp"

#include <algorithm>

namespace polykem::ckks::lab {

const std::vector<std::string> kOperations{
    "ntt",      "intt",         "hadd",    "hsub",          "plain_add",       "plain_mul",
    "tensor",   "automorphism", "rescale", "conversion_up", "conversion_down", "mod_up",
    "mod_down", "key_product",  "hmult",   "hrotate"};

namespace {

struct Limit {
  double seconds;
  const char* name;
};

Limit longest(const Cost& cost, const Rates& rates) {
  Limit limit{0, "bytes"};
  const auto take = [&](double count, double rate, const char* name) {
    if (count > 0 && rate > 0 && count / rate > limit.seconds) limit = {count / rate, name};
  };
  take(cost.bytes, rates.bytes, "bytes");
  take(cost.slots, rates.slots, "slots");
  take(cost.byte_products, rates.byte_products, "byte_products");
  return limit;
}

}  // namespace

double floor_of(const Cost& cost, const Rates& rates) {
  return longest(cost, rates).seconds;
}

const char* limit_of(const Cost& cost, const Rates& rates) {
  return longest(cost, rates).name;
}

bool Request::wants(const std::string& operation) const {
  return only.empty() || std::find(only.begin(), only.end(), operation) != only.end();
}

}  // namespace polykem::ckks::lab
