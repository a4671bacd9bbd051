// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>
#include <string>

namespace lowtide {

// A bug in Lowtide, never the fault of an input. The message names the invariant that does not hold. The library throws
// it and never aborts; the command line turns it into exit code 4.
class InvariantViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace base_internal {
[[noreturn]] void fail_check(const char* invariant, const char* file, int line);
}  // namespace base_internal

}  // namespace lowtide

// Requires: `condition` has no side effects. `invariant` is a sentence that states what should hold.
#define LOWTIDE_CHECK(condition, invariant) \
  ((condition) ? static_cast<void>(0) : ::lowtide::base_internal::fail_check(invariant, __FILE__, __LINE__))
