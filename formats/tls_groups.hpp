// SPDX-License-Identifier: Apache-2.0
// The only list of the TLS groups with ML-KEM that have a standard name and code point. The hybrids are those of
// [RFC10024].
#pragma once

#include <string_view>

namespace polykem::formats {

struct TlsGroup {
  const char* name;
  const char* set;
  unsigned code_point;
};
/// OpenSSL 3.5 has these groups too.
inline constexpr TlsGroup kStandardGroups[] = {
    {"X25519MLKEM768", "x25519mlkem768", 0x11EC},
    {"SecP256r1MLKEM768", "secp256r1mlkem768", 0x11EB},
    {"SecP384r1MLKEM1024", "secp384r1mlkem1024", 0x11ED},
    {"MLKEM512", "mlkem512", 0x0200},
    {"MLKEM768", "mlkem768", 0x0201},
    {"MLKEM1024", "mlkem1024", 0x0202},
};

}  // namespace polykem::formats
