// SPDX-License-Identifier: Apache-2.0
// Published figures of other implementations, measured on an H200 with CUDA 13.0, as ours are.
#pragma once

#include <cstring>

#include "common.hpp"

namespace polykem::bench {

inline constexpr const char* kPeer = "cuPQC 0.4.1, best block size";

struct PublishedRate {
  const char* scheme;
  size_t items;          ///< items of a batch
  double per_second[3];  ///< by index_of_op()
};

/// Rates of kernels alone, with all data on the GPU.
inline constexpr PublishedRate kPublishedRates[] = {
    {"mlkem512", 10000, {18.7e6, 17.6e6, 16.9e6}},  {"mlkem512", 100000, {19.9e6, 18.5e6, 17.9e6}},
    {"mlkem512", 500000, {19.9e6, 18.6e6, 18.0e6}}, {"mlkem768", 10000, {11.8e6, 8.6e6, 8.0e6}},
    {"mlkem768", 100000, {13.2e6, 9.0e6, 8.3e6}},   {"mlkem768", 500000, {13.4e6, 9.1e6, 8.4e6}},
    {"mlkem1024", 10000, {8.9e6, 7.0e6, 6.8e6}},    {"mlkem1024", 100000, {9.7e6, 7.5e6, 7.2e6}},
    {"mlkem1024", 500000, {9.8e6, 7.5e6, 7.3e6}},   {"mldsa44", 100000, {7.9e6, 1.00e6, 8.4e6}},
    {"mldsa65", 100000, {6.3e6, 0.76e6, 6.8e6}},    {"mldsa87", 100000, {4.3e6, 0.74e6, 4.0e6}},
};

/// Rates from host to host, in batches of the size that its authors use.
inline constexpr const char* kHostPeer = "DPCrypto";
inline constexpr PublishedRate kPublishedHostRates[] = {{"saber", 768, {0, 0.27e6, 0.36e6}}};

template <size_t N>
double per_second_in(const PublishedRate (&rates)[N], const std::string& scheme, size_t items, Op op) {
  for (const PublishedRate& rate : rates)
    if (scheme == rate.scheme && items == rate.items) return rate.per_second[index_of_op(op)];
  return 0;
}

/// Returns a peer's rate with a batch of `items` items; 0 if it was not measured.
inline double peer_per_second(const std::string& scheme, size_t items, Op op) {
  return per_second_in(kPublishedRates, scheme, items, op);
}
inline double host_peer_per_second(const std::string& scheme, size_t items, Op op) {
  return per_second_in(kPublishedHostRates, scheme, items, op);
}

/// Returns the batch size for which a peer was measured from host to host; 0 if there is none.
inline size_t host_peer_items(const std::string& scheme) {
  for (const PublishedRate& rate : kPublishedHostRates)
    if (scheme == rate.scheme) return rate.items;
  return 0;
}

}  // namespace polykem::bench
