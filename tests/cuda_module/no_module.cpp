// SPDX-License-Identifier: Apache-2.0
// A shared object that is no module of polykem's.
extern "C" int polykem_test_something_else() {
  return 1;
}
