// SPDX-License-Identifier: Apache-2.0
#include "net/session.hpp"

namespace polykem::cli::net {

ServerSession::ServerSession(const Scheme& scheme, Role role, SessionHost& host) : Session(scheme, role, host) {
  wait_for_peer();
}

std::optional<Session::Expected> ServerSession::expected() const {
  switch (state_) {
    case State::kHello:
      return Expected{FrameType::kHello, 2, 1 + kMaxSchemeNameBytes};
    case State::kAwaitKey:
      return exactly(FrameType::kPublicKey, scheme().public_key_bytes());
    case State::kAwaitCiphertext:
      return exactly(FrameType::kCiphertext, scheme().ciphertext_bytes());
    case State::kAwaitConfirm:
      return exactly(FrameType::kConfirm, kTagBytes);
    case State::kMakingKey:
    case State::kComputing:
    case State::kConfirmed:
      return std::nullopt;
  }
  return std::nullopt;
}

void ServerSession::on_frame(FrameType type, ByteView payload) {
  switch (type) {
    case FrameType::kHello:
      return on_hello(payload);
    case FrameType::kPublicKey:
      return on_public_key(payload);
    case FrameType::kCiphertext:
      return on_ciphertext(payload);
    case FrameType::kConfirm:
      return on_confirm(payload);
    case FrameType::kError:
      return;
  }
}

void ServerSession::on_hello(ByteView payload) {
  const auto hello = parse_hello(payload);
  if (!hello) return fail(Outcome::kGarbage);
  if (hello->scheme != scheme().name()) return fail(Outcome::kWrongScheme);
  if (hello->role != role()) return fail(Outcome::kWrongRole);
  if (role() == Role::kServerDecaps) {
    state_ = State::kMakingKey;
    compute(POLYKEM_KEYGEN);
  } else {
    state_ = State::kAwaitKey;
    wait_for_peer();
  }
}

void ServerSession::on_public_key(ByteView payload) {
  public_key_.assign(payload.begin(), payload.end());
  state_ = State::kComputing;
  compute(POLYKEM_ENCAPS);
}

void ServerSession::on_ciphertext(ByteView payload) {
  ciphertext_.assign(payload.begin(), payload.end());
  state_ = State::kComputing;
  compute(POLYKEM_DECAPS);
}

/// The server sends its tag second, so that a client without the secret does not get it.
void ServerSession::on_confirm(ByteView payload) {
  if (!equal_tags(payload, client_tag_)) return fail(Outcome::kMismatch);
  send_frame(FrameType::kConfirm, server_tag_);
  state_ = State::kConfirmed;
  wait_for_peer();
}

KemInput ServerSession::kem_input(polykem_op op) const {
  switch (op) {
    case POLYKEM_ENCAPS:
      return {public_key_, {}, {}};
    case POLYKEM_DECAPS:
      return {{}, secret_key_, ciphertext_};
    default:
      return {};
  }
}

void ServerSession::on_result(polykem_op op, const KemOutput& out) {
  if (op == POLYKEM_KEYGEN) {
    secret_key_.assign(out.secret_key.begin(), out.secret_key.end());
    state_ = State::kAwaitCiphertext;
    send_frame(FrameType::kPublicKey, out.public_key);
  } else {
    if (op == POLYKEM_ENCAPS) send_frame(FrameType::kCiphertext, out.ciphertext);
    derive_tags(out.shared_secret);
    SecretBytes().swap(secret_key_);
    state_ = State::kAwaitConfirm;
  }
  wait_for_peer();
}

/// A client closes after it has checked the server's tag. If the tag is wrong, it first sends an ERROR frame.
Outcome ServerSession::outcome_of_disconnect() const {
  return state_ == State::kConfirmed ? Outcome::kAgreed : Outcome::kDisconnected;
}

Outcome ServerSession::outcome_of_timeout() const {
  if (state_ == State::kConfirmed) return Outcome::kAgreed;
  if (state_ == State::kHello && !heard()) return Outcome::kSilent;
  return Session::outcome_of_timeout();
}

}  // namespace polykem::cli::net
