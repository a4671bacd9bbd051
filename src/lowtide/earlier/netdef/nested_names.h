// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <string>

#include "lowtide/base/result.h"
#include "lowtide/earlier/netdef/op_view.h"

namespace lowtide::netdef_internal {

struct NestedNames {
  std::set<std::string> read;     // as inputs or control inputs, also where an operator inside has written them before
  std::set<std::string> written;  // by operators inside
};

// The names that the nets inside an operator use, over all levels. Errors: those of nested_nets(); over_limit
// (limits::kMaxBodyNesting).
[[nodiscard]] Result<NestedNames> nested_names(const OpView& op, std::size_t at);

}  // namespace lowtide::netdef_internal
