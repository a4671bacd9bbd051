// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lowtide/earlier/graphdef/op_rules.h"

namespace lowtide::graphdef_internal {

// What an operator says about the extents of one of its operands, by itself and by what is known of the others. The
// rows of a MatMul, for example, have as many elements as the columns of its other matrix. Extents about which it says
// nothing are kOpen. nullopt: it says nothing at all.
[[nodiscard]] std::optional<Extents> told_extents(const NodeView& node, const std::vector<const KnownTensor*>& inputs,
                                                  std::size_t input);

}  // namespace lowtide::graphdef_internal
