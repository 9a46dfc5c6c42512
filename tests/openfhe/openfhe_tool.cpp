// SPDX-License-Identifier: Apache-2.0
// Reads a file of OpenFHE and writes it again, for tests/interop/openfhe.py:
//
//   polykem_openfhe_tool KIND json|binary FROM TO      KIND: context public secret ciphertext mult auto
#include <exception>
#include <fstream>
#include <iostream>
#include <string>

#include "formats/openfhe/openfhe.hpp"

namespace {

using namespace polykem::openfhe;

template <class T>
void convert(std::istream& in, std::ostream& out, Form form) {
  T object = read<T>(in);
  write(out, object, form);
}

bool run(const std::string& kind, Form form, std::istream& in, std::ostream& out) {
  if (kind == "context") {
    convert<Context>(in, out, form);
  } else if (kind == "public") {
    convert<PublicKey>(in, out, form);
  } else if (kind == "secret") {
    convert<SecretKey>(in, out, form);
  } else if (kind == "ciphertext") {
    convert<Ciphertext>(in, out, form);
  } else if (kind == "mult") {
    convert<RelinearisationKeys>(in, out, form);
  } else if (kind == "auto") {
    convert<AutomorphismKeys>(in, out, form);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string form = argc == 5 ? argv[2] : "";
  if (form != "json" && form != "binary") {
    std::cerr << "usage: polykem_openfhe_tool KIND json|binary FROM TO\n";
    return 2;
  }
  std::ifstream in(argv[3], std::ios::binary);
  std::ofstream out(argv[4], std::ios::binary);
  try {
    if (!run(argv[1], form == "json" ? Form::kJson : Form::kBinary, in, out)) {
      std::cerr << "unknown kind\n";
      return 2;
    }
  } catch (const std::exception& e) {
    std::cerr << argv[3] << ": " << e.what() << '\n';
    return 1;
  }
  return 0;
}
