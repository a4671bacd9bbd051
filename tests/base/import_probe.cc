// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that has imports for tests: getpagesize() is called, and its address is in a table of functions.

#include <unistd.h>

namespace {
int (*volatile functions[])() = {&getpagesize};
}  // namespace

extern "C" {
int probe_own() { return 1; }
int probe_call() { return getpagesize() + probe_own() - 1; }
int probe_call_of_table() { return functions[0](); }
}
