// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/nested_names.h"

#include "lowtide/base/try.h"
#include "lowtide/earlier/netdef/format.h"

namespace lowtide::netdef_internal {
namespace {

// The recursion ends at limits::kMaxBodyNesting.
Result<void> add_names(const OpView& op, std::size_t at, int depth, NestedNames& names) {
  LOWTIDE_TRY(const std::vector<NestedNet> nets, nested_nets(op, at, depth));
  for (const NestedNet& nested : nets) {
    std::size_t inner_at = 0;
    for (const ProtoMessage* message : messages_of(nested.net, net_field::kOp)) {
      const OpView inner(*message);
      names.read.insert(inner.inputs().begin(), inner.inputs().end());
      for (std::string_view name : texts_of(*message, op_field::kControlInput)) names.read.emplace(name);
      LOWTIDE_RETURN_IF_ERROR(add_names(inner, inner_at++, depth + 1, names));
      for (std::string_view name : inner.outputs()) names.written.emplace(name);
    }
  }
  return {};
}

}  // namespace

Result<NestedNames> nested_names(const OpView& op, std::size_t at) {
  NestedNames names;
  LOWTIDE_RETURN_IF_ERROR(add_names(op, at, 0, names));
  return names;
}

}  // namespace lowtide::netdef_internal
