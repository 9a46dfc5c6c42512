// SPDX-License-Identifier: Apache-2.0
//
// A server with many clients, in C++: the server's secret keys stay in a key set; ciphertexts that have arrived are
// decapsulated in one call, in the background, in any order.
//
//   c++ -std=c++17 server.cpp $(pkg-config --cflags --libs polykem) -o server && ./server
#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <polykem/polykem.hpp>
#include <vector>

namespace {

constexpr std::size_t kClients = 100;

bool exchange() {
  const auto scheme = polykem::Scheme::find("ML-KEM-768");  // the specification's spelling works as well
  const polykem::Context context;

  // One key pair per client. The secret keys never leave the set; the public keys go out to the clients.
  polykem::Bytes public_keys;
  const polykem::KeySet keys = context.generate_keys(scheme, kClients, public_keys);

  // The clients' part. A single client would pass count = 1: the same call.
  const auto client = context.encaps(scheme, kClients, polykem::KeyMode::kPerItem, public_keys);

  // Ciphertexts arrive in another order than the keys were made in: the last client is the quickest.
  std::vector<std::size_t> arrival(kClients);
  std::iota(arrival.rbegin(), arrival.rend(), std::size_t{0});
  polykem::Bytes arrived;
  for (const std::size_t who : arrival) {
    const auto begin = client.ct.begin() + static_cast<std::ptrdiff_t>(who * scheme.ciphertext_bytes());
    arrived.insert(arrived.end(), begin, begin + static_cast<std::ptrdiff_t>(scheme.ciphertext_bytes()));
  }

  // Item i of the batch is to use key arrival[i]. submit() returns at once; the buffers must stay until the job is
  // done.
  polykem::SecretBytes secrets(kClients * scheme.shared_secret_bytes());
  auto request = polykem::Context::request(POLYKEM_DECAPS, scheme, kClients);
  request.keyset = keys.handle();
  request.key_index = arrival.data();
  request.ct = arrived.data();
  request.ss_out = secrets.data();
  const polykem::Job job = context.submit(request);
  // ... here a server would continue to serve ...
  polykem::check(job.wait(), "decapsulate");

  std::size_t equal = 0;
  for (std::size_t i = 0; i < kClients; ++i) {
    const auto* server_side = secrets.data() + i * scheme.shared_secret_bytes();
    const auto* client_side = client.ss.data() + arrival[i] * scheme.shared_secret_bytes();
    equal += std::equal(server_side, server_side + scheme.shared_secret_bytes(), client_side);
  }
  std::printf("%s on backend %s: %zu of %zu shared secrets are equal\n", scheme.info().title,
              context.backend(scheme).c_str(), equal, kClients);
  return equal == kClients;
}

}  // namespace

int main() {
  try {
    return exchange() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
