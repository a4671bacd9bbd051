// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/verify/violation.h"

namespace lowtide::testing {

inline std::vector<std::string> messages_of(const std::vector<Violation>& violations) {
  std::vector<std::string> messages;
  for (const Violation& one : violations) messages.push_back(one.message);
  return messages;
}

}  // namespace lowtide::testing
