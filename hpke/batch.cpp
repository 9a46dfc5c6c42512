// SPDX-License-Identifier: Apache-2.0
#include "hpke/hpke.hpp"
#include "hpke/kem_batch.hpp"

namespace polykem::hpke {

const char* item_status_text(ItemStatus status) {
  switch (status) {
    case ItemStatus::kOk:
      return "done";
    case ItemStatus::kPublicKey:
      return "the public key is malformed";
    case ItemStatus::kSecretKey:
      return "the secret key is malformed";
    case ItemStatus::kInternal:
      return "OpenSSL failed";
    case ItemStatus::kEncapsulation:
      return "the encapsulation is malformed";
    case ItemStatus::kOpen:
      return "not sealed for this key, info and additional data, or changed since";
    case ItemStatus::kNumber:
      return "the context has no message number left";
  }
  return "unknown status";
}

std::size_t seal(polykem_context* context, const Suite& suite, const SealRequest& request, const Pieces& pieces) {
  if (request.count == 0) return 0;
  const OpensslCall call;
  check_count(request.count, suite);
  check_messages(suite, request.count, request.aad, request.plaintexts, request.ciphertexts, kTagBytes);
  KemBatch kem(context, suite, request.pk, request.coins, request.enc);
  std::atomic<std::size_t> failed{0};
  set_up(kem, suite, request, false, pieces, [&](ItemWorker& worker, std::size_t i, ItemStatus status) {
    const ByteView plaintext = request.plaintexts.at(i);
    std::uint8_t* out = output_at(request.ciphertexts, plaintext.size() + kTagBytes, i);
    status = seal_item(status, worker.cipher, worker.secrets, 0, request.aad.at(i), plaintext, out);
    if (status != ItemStatus::kOk) std::memset(request.enc + i * suite.enc_bytes(), 0, suite.enc_bytes());
    put_status(request.status, i, status, failed);
  });
  return failed;
}

std::size_t open(polykem_context* context, const Suite& suite, const OpenRequest& request, const Pieces& pieces) {
  if (request.count == 0) return 0;
  const OpensslCall call;
  check_count(request.count, suite);
  check_messages(suite, request.count, request.aad, request.ciphertexts, request.plaintexts,
                 -static_cast<std::ptrdiff_t>(kTagBytes));
  KemBatch kem(context, suite, request.sk, request.enc);
  std::atomic<std::size_t> failed{0};
  set_up(kem, suite, request, false, pieces, [&](ItemWorker& worker, std::size_t i, ItemStatus status) {
    const ByteView ciphertext = request.ciphertexts.at(i);
    std::uint8_t* out = output_at(request.plaintexts, opened_bytes(ciphertext.size()), i);
    status = open_item(status, worker.cipher, worker.secrets, 0, request.aad.at(i), ciphertext, out);
    put_status(request.status, i, status, failed);
  });
  return failed;
}

}  // namespace polykem::hpke
