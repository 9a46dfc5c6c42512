// SPDX-License-Identifier: Apache-2.0
// With it the headers that tests share are precompiled: POLYKEM_PCH in tests/CMakeLists.txt.
int main() {
  return 0;
}
