// SPDX-License-Identifier: Apache-2.0
// Precompiles the headers that tests share; see POLYKEM_PCH in tests/CMakeLists.txt.
int main() {
  return 0;
}
