// SPDX-License-Identifier: Apache-2.0
#include "net/session.hpp"

namespace polykem::cli::net {

void ClientSession::start() {
  if (role() == Role::kServerDecaps) return open();
  state_ = State::kMakingKey;
  compute(POLYKEM_KEYGEN);
}

void ClientSession::open() {
  state_ = State::kConnecting;
  if (host() != nullptr) host()->open();
}

void ClientSession::on_connected() {
  const std::string_view name = scheme().name();
  send_frame(FrameType::kHello, encode_hello(role(), name));
  if (role() == Role::kServerEncaps) {
    send_frame(FrameType::kPublicKey, public_key_);
    state_ = State::kAwaitCiphertext;
  } else {
    state_ = State::kAwaitKey;
  }
  wait_for_peer();
}

std::optional<Session::Expected> ClientSession::expected() const {
  switch (state_) {
    case State::kAwaitKey:
      return exactly(FrameType::kPublicKey, scheme().public_key_bytes());
    case State::kAwaitCiphertext:
      return exactly(FrameType::kCiphertext, scheme().ciphertext_bytes());
    case State::kAwaitConfirm:
      return exactly(FrameType::kConfirm, kTagBytes);
    case State::kMakingKey:
    case State::kConnecting:
    case State::kComputing:
      return std::nullopt;
  }
  return std::nullopt;
}

void ClientSession::on_frame(FrameType type, ByteView payload) {
  switch (type) {
    case FrameType::kPublicKey:
      public_key_.assign(payload.begin(), payload.end());
      state_ = State::kComputing;
      return compute(POLYKEM_ENCAPS);
    case FrameType::kCiphertext:
      ciphertext_.assign(payload.begin(), payload.end());
      state_ = State::kComputing;
      return compute(POLYKEM_DECAPS);
    case FrameType::kConfirm:
      if (!equal_tags(payload, server_tag_)) return fail(Outcome::kMismatch);
      return finish(Outcome::kAgreed);
    case FrameType::kHello:
    case FrameType::kError:
      return;
  }
}

KemInput ClientSession::kem_input(polykem_op op) const {
  switch (op) {
    case POLYKEM_ENCAPS:
      return {public_key_, {}, {}};
    case POLYKEM_DECAPS:
      return {{}, secret_key_, ciphertext_};
    default:
      return {};
  }
}

void ClientSession::on_result(polykem_op op, const KemOutput& out) {
  if (op == POLYKEM_KEYGEN) {
    public_key_.assign(out.public_key.begin(), out.public_key.end());
    secret_key_.assign(out.secret_key.begin(), out.secret_key.end());
    return open();
  }
  if (op == POLYKEM_ENCAPS) send_frame(FrameType::kCiphertext, out.ciphertext);
  derive_tags(out.shared_secret);
  SecretBytes().swap(secret_key_);
  send_frame(FrameType::kConfirm, client_tag_);
  state_ = State::kAwaitConfirm;
  wait_for_peer();
}

}  // namespace polykem::cli::net
