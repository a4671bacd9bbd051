// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <utility>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"

namespace lowtide::kernels_internal {

Expected expect_like_first(const NodeFacts& facts) { return expect(facts.extents(0)); }

Expected expect_broadcast(const NodeFacts& facts) {
  std::optional<KnownExtents> all = KnownExtents();
  for (std::size_t input = 0; input < facts.node().inputs.size(); ++input) {
    if (!facts.has(input)) continue;
    const KnownExtents before = *all;
    all = broadcast_known(*std::move(all), facts.extents(input));
    if (!all) return misfit(facts, input, "extents that are broadcast to " + to_text(before));
  }
  return expect(*std::move(all));
}

Expected expect_cast(const NodeFacts& facts) {
  Expected expected = expect_like_first(facts);
  expected.dtype = dtype_of_onnx_number(integer_attribute(facts.node(), "to", 0));
  return expected;
}

Expected expect_of_family(const NodeFacts& /*facts*/) { return expect_anything(); }

}  // namespace lowtide::kernels_internal
