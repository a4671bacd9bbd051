// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/check.h"

#include <string>
#include <string_view>

namespace lowtide::base_internal {

void fail_check(const char* invariant, const char* file, int line) {
  std::string_view place = file;
  // The path from the include root is the same on every machine.
  if (const std::size_t root = place.rfind("lowtide/"); root != std::string_view::npos) place.remove_prefix(root);
  throw InvariantViolation("invariant broken: " + std::string(invariant) + " (" + std::string(place) + ":" +
                           std::to_string(line) + ")");
}

}  // namespace lowtide::base_internal
