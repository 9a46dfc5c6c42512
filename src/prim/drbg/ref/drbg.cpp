// SPDX-License-Identifier: Apache-2.0
#include "prim/drbg/drbg.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>

#include "core/secure.hpp"
#include "prim/keccak/keccak.hpp"

namespace polykem {

Status os_entropy(std::span<uint8_t> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = getrandom(out.data() + done, out.size() - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Status::random;
    done += static_cast<size_t>(got);
  }
  return Status::ok;
}

Drbg::~Drbg() {
  secure_zero(key_, sizeof key_);
}

Status Drbg::prepare() {
  const int process = getpid();
  if (fills_left_ > 0 && process == owner_process_) return Status::ok;
  const Status status = os_entropy(key_);
  if (status != Status::ok) return status;
  owner_process_ = process;
  fills_left_ = kReseedInterval;
  return Status::ok;
}

void Drbg::fill(std::span<uint8_t> out, Aes256Ctr keystream) {
  if (keystream != nullptr) {
    constexpr uint64_t kKeyBlocks = kKeyBytes / kAesBlockBytes;  // the first blocks are the next key
    keystream(out.data(), out.size(), key_, 0, kKeyBlocks);
    keystream(key_, kKeyBytes, key_, 0, 0);
  } else {
    Shake stream(Shake::Strength::shake256);
    stream.absorb(key_);
    stream.squeeze(key_);
    stream.squeeze(out);
  }
  fills_left_ -= fills_left_ > 0 ? 1 : 0;
}

}  // namespace polykem
