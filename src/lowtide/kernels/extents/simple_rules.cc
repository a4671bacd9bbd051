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
  expected.dtype = dtype_of_onnx(integer_attribute(facts.node(), "to", 0));
  return expected;
}

Expected expect_of_family(const NodeFacts& /*facts*/) { return expect_anything(); }

std::optional<DType> dtype_of_onnx(std::int64_t number) {
  using enum DType;
  // TensorProto.DataType, from FLOAT = 1 on.
  constexpr std::array kTypes{f32,    u8,         i8,  u16, i16,    i32,    i64,  string,   boolean,
                              f16,    f64,        u32, u64, c64,    c128,   bf16, f8e4m3fn, f8e4m3fnuz,
                              f8e5m2, f8e5m2fnuz, u4,  i4,  f4e2m1, f8e8m0, u2,   i2};
  if (number < 1 || number > std::ssize(kTypes)) return std::nullopt;
  return kTypes[static_cast<std::size_t>(number) - 1];
}

}  // namespace lowtide::kernels_internal
