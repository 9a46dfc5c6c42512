// SPDX-License-Identifier: Apache-2.0
#include "algorithms.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "formats/keys.hpp"
#include "formats/tls_groups.hpp"

namespace polykem::provider {

namespace {

constexpr Classical kX25519{"x25519", "X25519", nullptr, 32, 32};
constexpr Classical kX448{"x448", "X448", nullptr, 56, 56};
constexpr Classical kP256{"p256", "EC", "P-256", 65, 32};
constexpr Classical kP384{"p384", "EC", "P-384", 97, 48};
constexpr Classical kP521{"p521", "EC", "P-521", 133, 66};

/// Groups outside the standards: the set alone, with a NIST curve, with a Montgomery curve (0: none). Names and code
/// points are those of the Open Quantum Safe project. Groups that it never had are above 65082, in the range for
/// private use.
struct OtherGroups {
  const char* set;
  const char* name;
  unsigned id, id_p, id_x;
};
constexpr OtherGroups kOtherGroups[] = {
    {"frodokem640aes", "frodo640aes", 65059, 65060, 65061},
    {"frodokem640shake", "frodo640shake", 65062, 65063, 65064},
    {"frodokem976aes", "frodo976aes", 65065, 65066, 65067},
    {"frodokem976shake", "frodo976shake", 65068, 65069, 65070},
    {"frodokem1344aes", "frodo1344aes", 65071, 65072, 0},
    {"frodokem1344shake", "frodo1344shake", 65073, 65074, 0},
    {"efrodokem640aes", "efrodo640aes", 65024, 65025, 65026},
    {"efrodokem640shake", "efrodo640shake", 65027, 65028, 65029},
    {"efrodokem976aes", "efrodo976aes", 65030, 65031, 65032},
    {"efrodokem976shake", "efrodo976shake", 65033, 65034, 65035},
    {"efrodokem1344aes", "efrodo1344aes", 65036, 65037, 0},
    {"efrodokem1344shake", "efrodo1344shake", 65038, 65039, 0},
    {"ntruhps2048509", "ntru_hps2048509", 0x0214, 0x2F14, 0x2F94},
    {"ntruhps2048677", "ntru_hps2048677", 0x0215, 0x2F15, 0x2F95},
    {"ntruhps4096821", "ntru_hps4096821", 0x0216, 0x2F16, 0},
    {"ntruhrss701", "ntru_hrss701", 0x0217, 0x2F17, 0x2F97},
    {"ntruhps40961229", "ntru_hps40961229", 65088, 65089, 0},
    {"ntruhrss1373", "ntru_hrss1373", 65090, 65091, 0},
};

/// The parts of the standards' hybrids [RFC10024, 3], [HYBRIDKEMS, 5].
struct StandardHybrid {
  std::string_view set;
  const char* kem;
  const Classical* curve;
  bool curve_first;
};
constexpr StandardHybrid kStandardHybrids[] = {
    {"x25519mlkem768", "mlkem768", &kX25519, false},   {"secp256r1mlkem768", "mlkem768", &kP256, true},
    {"secp384r1mlkem1024", "mlkem1024", &kP384, true}, {"mlkem768x25519", "mlkem768", &kX25519, false},
    {"mlkem768p256", "mlkem768", &kP256, false},       {"mlkem1024p384", "mlkem1024", &kP384, false},
};

/// The TLS code points by set, whose name is the algorithm's [TLSMLDSA, 3].
constexpr std::pair<const char*, unsigned> kSignatureAlgorithms[] = {
    {"mldsa44", 0x0904}, {"mldsa65", 0x0905}, {"mldsa87", 0x0906}};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Adds a name unless it is in the list. Letter case does not matter.
void add_name(Algorithm& algorithm, const std::string& name) {
  const auto framed = [](const std::string& text) { return lower(std::string(":").append(text).append(":")); };
  if (framed(algorithm.names).find(framed(name)) != std::string::npos) return;
  if (!algorithm.names.empty()) algorithm.names += ':';
  algorithm.names += name;
  if (algorithm.name.empty()) algorithm.name = name;
}

Algorithm plain_algorithm(const Scheme& scheme) {
  Algorithm out{scheme, nullptr, {}, {}};
  add_name(out, scheme.info().title);
  add_name(out, scheme.name());
  if (formats::has_key_format(scheme)) {
    add_name(out, formats::identifier_name(scheme));
    add_name(out, formats::object_identifier(scheme));
  }
  for (const OtherGroups& each : kOtherGroups) {
    if (std::string_view(each.set) == scheme.name()) add_name(out, each.name);
  }
  return out;
}

std::size_t index_of(const Offer& offer, std::string_view set) {
  for (std::size_t i = 0; i < offer.algorithms.size(); ++i) {
    if (!offer.algorithms[i].is_hybrid() && set == offer.algorithms[i].scheme.name()) return i;
  }
  throw std::logic_error("a group or signature algorithm of an unknown set");
}

void add_hybrid(Offer& offer, std::size_t set_index, const Classical& classical, const std::string& name, unsigned id) {
  Algorithm hybrid{offer.algorithms[set_index].scheme, &classical, {}, {}};
  add_name(hybrid, name);
  offer.algorithms.push_back(hybrid);
  offer.groups.push_back({name, offer.algorithms.size() - 1, id});
}

/// The curve that goes with a set's security category.
const Classical& nist_curve(const Scheme& scheme) {
  const auto category = scheme.info().security_category;
  return category >= 5 ? kP521 : category >= 3 ? kP384 : kP256;
}
const Classical& montgomery_curve(const Scheme& scheme) {
  return scheme.info().security_category >= 3 ? kX448 : kX25519;
}

}  // namespace

int Algorithm::security_bits() const {
  constexpr std::array<int, 6> kBits{0, 128, 128, 192, 192, 256};
  return kBits.at(scheme.info().security_category);
}

PublicKeyParts public_key_parts(const Scheme& scheme) {
  const auto hybrid = std::find_if(std::begin(kStandardHybrids), std::end(kStandardHybrids),
                                   [&](const StandardHybrid& each) { return each.set == scheme.name(); });
  if (hybrid == std::end(kStandardHybrids)) {
    const bool mlkem = std::string_view(scheme.info().family) == "mlkem";
    return {0, mlkem ? scheme.public_key_bytes() : 0, nullptr, 0};
  }
  const std::size_t ek_bytes = Scheme::find(hybrid->kem).public_key_bytes();
  const std::size_t ek_at = hybrid->curve_first ? hybrid->curve->share_bytes : 0;
  return {ek_at, ek_bytes, hybrid->curve, hybrid->curve_first ? 0 : ek_bytes};
}

Offer make_offer(bool builtin_mlkem) {
  Offer offer;
  for (const Scheme& scheme : Scheme::all())
    offer.algorithms.push_back(plain_algorithm(scheme));
  for (const formats::TlsGroup& group : formats::kStandardGroups) {
    if (!builtin_mlkem) offer.groups.push_back({group.name, index_of(offer, group.set), group.code_point});
  }
  for (const OtherGroups& each : kOtherGroups) {
    const std::size_t set = index_of(offer, each.set);
    const Scheme scheme = offer.algorithms[set].scheme;
    offer.groups.push_back({each.name, set, each.id});
    for (const auto& [classical, id] :
         {std::pair(&nist_curve(scheme), each.id_p), std::pair(&montgomery_curve(scheme), each.id_x)}) {
      if (id != 0) add_hybrid(offer, set, *classical, std::string(classical->name) + "_" + each.name, id);
    }
  }
  for (const Scheme& scheme : Scheme::all_signatures())
    offer.algorithms.push_back(plain_algorithm(scheme));
  for (const auto& [set, code_point] : kSignatureAlgorithms)
    offer.signature_algorithms.push_back({set, index_of(offer, set), code_point});
  if (offer.algorithms.size() > kMaxAlgorithms) throw std::logic_error("more algorithms than dispatch tables");
  return offer;
}

}  // namespace polykem::provider
