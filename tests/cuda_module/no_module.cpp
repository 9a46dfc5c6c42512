// SPDX-License-Identifier: Apache-2.0
// A shared object that is not a module of polykem.
extern "C" int polykem_test_something_else() {
  return 1;
}
