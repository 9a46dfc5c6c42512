// SPDX-License-Identifier: Apache-2.0
// Reads a file of OpenFHE and writes it again, for ckks/tests/interop/openfhe_files.py:
//
//   polykem_openfhe_tool KIND json|binary FROM TO [new]
//
// KIND is context, public, secret, ciphertext, mult or auto. "new" drops the file's sharing, as if the object had been
// made here.
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <type_traits>

#include "ckks/openfhe/openfhe.hpp"

namespace {

using namespace polykem::openfhe;

struct Job {
  std::string kind;
  Form form;
  bool is_new;
};

template <class T>
void convert(const Job& job, std::istream& in, std::ostream& out) {
  T object = read<T>(in);
  if constexpr (!std::is_same_v<T, Context>) {
    if (job.is_new) object.sharing = {};
  }
  write(out, object, job.form);
}

bool run(const Job& job, std::istream& in, std::ostream& out) {
  const struct {
    const char* kind;
    void (*convert)(const Job&, std::istream&, std::ostream&);
  } table[] = {{"context", convert<Context>},          {"public", convert<PublicKey>},
               {"secret", convert<SecretKey>},         {"ciphertext", convert<Ciphertext>},
               {"mult", convert<RelinearisationKeys>}, {"auto", convert<AutomorphismKeys>}};
  for (const auto& entry : table) {
    if (job.kind != entry.kind) continue;
    entry.convert(job, in, out);
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "usage: polykem_openfhe_tool KIND json|binary FROM TO [new]\n";
    return 2;
  }
  const Job job = {argv[1], argv[2] == std::string("json") ? Form::kJson : Form::kBinary, argc > 5};
  std::ifstream in(argv[3], std::ios::binary);
  std::ofstream out(argv[4], std::ios::binary);
  try {
    if (!run(job, in, out)) {
      std::cerr << "unknown kind\n";
      return 2;
    }
  } catch (const std::exception& e) {
    std::cerr << argv[3] << ": " << e.what() << '\n';
    return 1;
  }
  return 0;
}
