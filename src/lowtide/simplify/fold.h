// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/attribute.h"
#include "lowtide/graph/dtype.h"

namespace lowtide {

// How much is known of a number before the run. `at_most` is a proven upper bound of a number that is never
// negative (an extent): it survives only operations that are monotonic in it.
enum class Knowledge : std::uint8_t { unknown, at_most, exact };

// An extent of a tensor before the run.
struct KnownExtent {
  Knowledge knowledge = Knowledge::unknown;
  std::int64_t extent = 0;  // if exact or at_most; >= 0
  std::string symbol;       // name of an unknown extent in the file, where it has one: "batch"
  friend bool operator==(const KnownExtent&, const KnownExtent&) = default;
};

// An element of a small tensor before the run. `integer` is used by integers and bool, `real` by floats.
struct KnownElement {
  Knowledge knowledge = Knowledge::unknown;
  std::int64_t integer = 0;
  double real = 0;
  std::string symbol;  // an unknown element that is an unknown extent: keeps its name through Shape, Gather, Concat
  friend bool operator==(const KnownElement&, const KnownElement&) = default;
};

// The content of a small tensor (at most limits::kMaxFoldedElements), row-major, each element known or not.
struct KnownContent {
  DType dtype = DType::i64;
  std::vector<std::int64_t> extents;
  std::vector<KnownElement> elements;  // as many as the product of extents
};

// What is known of a node's input before the run.
struct KnownInput {
  std::optional<DType> dtype;                       // nothing: the input is left out or not a tensor
  std::optional<std::vector<KnownExtent>> extents;  // nothing: the rank is not known
  std::shared_ptr<const KnownContent> content;      // nullptr: nothing is known of the content
};

struct FoldRequest {
  std::string_view domain;  // "" for the standard ONNX domain
  std::string_view type;
  int opset = 0;            // version of the domain that the model uses
  const std::vector<Attribute>& attributes;
  std::span<const KnownInput> inputs;
  std::size_t output_count = 1;
};

// Computes, as far as the inputs allow, the content of a node's outputs: the arithmetic that real models do on shapes
// (Shape, Size, Gather, Concat, Slice, Split, Squeeze, Unsqueeze, Reshape, Cast, arithmetic, comparison, Where, Range,
// ConstantOfShape, NonZero of a known content, Reduce*, ...). One entry an output; nullptr: nothing is known, or the
// operator is not one of these, or the result would be above limits::kMaxFoldedElements.
// Exact: what it says `exact` is what ONNX defines, with the wrap-around and rounding of the element type.
// Errors (invalid): arithmetic that no run could survive, such as an integer division by zero.
// O(elements in and out); a pure function.
[[nodiscard]] Result<std::vector<std::shared_ptr<const KnownContent>>> fold(const FoldRequest& request);

}  // namespace lowtide
