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

// An element of a small tensor before the run. `integer` is used by integers and bool (0 or 1), `real` by floats.
// An integer is within the range of its type; of u64, what does not fit 63 bits is unknown. A real is a number of its
// type (an f16 holds what an f16 can hold). `at_most` says: at least 0, at most that number, and not NaN.
struct KnownElement {
  Knowledge knowledge = Knowledge::unknown;
  std::int64_t integer = 0;
  double real = 0;
  std::string symbol;  // an unknown element that is an unknown extent, so never negative: keeps its name through Shape,
                       // movement of data, casts between integers of 32 bits and more (an extent that an i32 would cut
                       // is taken not to occur), and arithmetic that changes nothing (x 1, + 0)
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

// An attribute that is a tensor: `value` of Constant and ConstantOfShape.
struct ContentAttribute {
  std::string name;
  std::shared_ptr<const KnownContent> content;
};

struct FoldRequest {
  std::string_view domain;  // "" for the standard ONNX domain
  std::string_view type;
  int opset = 0;  // version of the domain that the model uses
  const std::vector<Attribute>& attributes;
  std::span<const KnownInput> inputs;
  std::size_t output_count = 1;
  std::span<const ContentAttribute> content_attributes = {};
};

// Whether `fold` has a rule for the operator. O(log n) in the table of rules; no answer of `fold` differs from nullptr
// where this says no.
[[nodiscard]] bool may_fold(std::string_view domain, std::string_view type);

// Computes, as far as the inputs allow, the content of a node's outputs: the arithmetic that real models do on shapes
// (Shape, Size, Gather, Concat, Slice, Split, Squeeze, Unsqueeze, Reshape, Cast, arithmetic, comparison, Where, Range,
// ConstantOfShape, NonZero of a known content, Reduce*, ...). One entry an output; nullptr: nothing is known, or the
// operator is not one of these, or the result would be above limits::kMaxFoldedElements.
// Exact: what it says `exact` is what ONNX defines, with the wrap-around and rounding of the element type. Where the
// standard leaves the last bit of a float to the kernel (Exp, Log, Pow, sums and means of several floats), it is the
// result in double precision, rounded once. What ONNX leaves undefined (a float beyond the range of the integer type it
// is cast to, NaN cast to an integer, a shift by more than the width, an index out of range) is unknown, not an error:
// the node may stand in a branch that never runs.
// Errors (invalid), since no run survives them: an integer division or Mod by an exact 0; the lowest number of a signed
// type divided by -1, which that type cannot hold; Range with a step of 0; a Slice step of 0.
// O(elements in and out, times the rank); a pure function.
[[nodiscard]] Result<std::vector<std::shared_ptr<const KnownContent>>> fold(const FoldRequest& request);

}  // namespace lowtide
