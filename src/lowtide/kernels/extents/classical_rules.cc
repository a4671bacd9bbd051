// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"

namespace lowtide::kernels_internal {
namespace {

// The rows of a matrix; an operand with one axis is one row. The families refuse other operands.
KnownExtent rows_of_operand(const NodeFacts& facts, std::size_t input) {
  return facts.rank(input) == 2 ? facts.extents(input)[0] : KnownExtent(1);
}

Expected with_type(Expected expected, DType dtype) {
  expected.dtype = dtype;
  return expected;
}

}  // namespace

Expected expect_changed_features(const NodeFacts& facts) {
  const bool is_real = facts.type() == "Scaler" || facts.type() == "Normalizer";
  return with_type(expect_like_first(facts), is_real ? DType::f32 : facts.tensor(0).dtype);
}

Expected expect_feature_vector(const NodeFacts& facts) {
  const KnownExtent rows = rows_of_operand(facts, 0);
  for (std::size_t input = 1; input < facts.node().inputs.size(); ++input) {
    if (facts.has(input) && !may_equal(rows_of_operand(facts, input), rows))
      return misfit(facts, input, "the rows of the other operands");
  }
  const auto* widths = integers_attribute(facts.node(), "inputdimensions");
  KnownExtent columns = widths == nullptr ? KnownExtent() : KnownExtent(0);
  for (std::size_t at = 0; widths != nullptr && at < widths->size(); ++at) columns = sum_of(columns, (*widths)[at]);
  return with_type(expect(KnownExtents{rows, columns}), DType::f32);
}

Expected expect_extracted(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  if (to.empty()) return misfit(facts, 0, "features");
  to.back() = facts.count(1);
  if (to.size() == 1) to.insert(to.begin(), 1);
  return with_type(expect(std::move(to)), facts.tensor(0).dtype);
}

Expected expect_categories(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  const auto* categories = integers_attribute(facts.node(), "cats_int64s");
  to.push_back(categories == nullptr ? KnownExtent() : KnownExtent(std::ssize(*categories)));
  return with_type(expect(std::move(to)), DType::f32);
}

// The families compare the number of scores with their attributes.
Expected expect_scores(const NodeFacts& facts) {
  const DType dtype = facts.type() == "TreeEnsemble" ? facts.tensor(0).dtype : DType::f32;
  return with_type(expect(KnownExtents{rows_of_operand(facts, 0), std::nullopt}), dtype);
}

Expected expect_labels_and_scores(const NodeFacts& facts) {
  const KnownExtent rows = rows_of_operand(facts, 0);
  Expected expected = with_type(expect(KnownExtents{rows}, KnownExtents{rows, std::nullopt}), DType::i64);
  expected.second_dtype = DType::f32;
  return expected;
}

}  // namespace lowtide::kernels_internal
