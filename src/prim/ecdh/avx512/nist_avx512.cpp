#include "prim/ecdh/nist.hpp"
namespace polykem::ecdh {
const Implementation& nist_avx512(Curve c) {
  return nist_portable(c);
}
}  // namespace polykem::ecdh
