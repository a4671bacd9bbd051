// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/base/result.h"
#include "lowtide/import/onnx/fold/fold_request.h"
#include "lowtide/import/onnx/fold/numbers.h"

// Helpers that the rules of `fold` share.
namespace lowtide::import_internal {

using Extents = std::vector<std::int64_t>;
using Content = std::shared_ptr<const KnownContent>;
using Contents = std::vector<Content>;

// A list of integers that is an attribute in some opsets and an input in others.
struct ListSetting {
  bool is_given = false;          // false if the list is omitted
  std::optional<Extents> values;  // nullopt if the list is given but unknown before the run
};

// Reads a request. If something is absent, malformed or of another type, its accessor returns an empty value or
// `otherwise`.
class FoldNode {
 public:
  explicit FoldNode(const FoldRequest& request) : request_(request) {}

  [[nodiscard]] const FoldRequest& request() const { return request_; }
  [[nodiscard]] std::size_t input_count() const { return request_.inputs.size(); }
  [[nodiscard]] bool has_input(std::size_t index) const;
  [[nodiscard]] std::optional<DType> dtype(std::size_t index) const;
  // The extents if all are exact.
  [[nodiscard]] std::optional<Extents> extents(std::size_t index) const;
  [[nodiscard]] const std::vector<KnownExtent>* partly_known_extents(std::size_t index) const;
  // The content, or nullptr if nothing is known of it.
  [[nodiscard]] Content content(std::size_t index) const;
  // The content. For a small integer tensor with a known shape and unknown content, returns unknown elements.
  [[nodiscard]] Content content_or_unknown(std::size_t index) const;
  // All elements if each is exact.
  [[nodiscard]] std::optional<Extents> exact_integers(std::size_t index) const;
  [[nodiscard]] std::optional<std::int64_t> exact_scalar(std::size_t index) const;

  [[nodiscard]] std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  [[nodiscard]] std::string_view text(std::string_view attribute, std::string_view otherwise) const;
  [[nodiscard]] const Extents* integers(std::string_view attribute) const;
  [[nodiscard]] ListSetting list(std::string_view attribute, std::size_t input) const;
  [[nodiscard]] Content content_attribute(std::string_view name) const;

 private:
  const FoldRequest& request_;
};

using FoldRule = Result<Contents> (*)(const FoldNode& node);

struct NamedRule {
  std::string_view type;
  FoldRule rule;
};
// The rules of each operator family, in any order.
[[nodiscard]] std::span<const NamedRule> movement_rules();
[[nodiscard]] std::span<const NamedRule> indexing_rules();
[[nodiscard]] std::span<const NamedRule> arithmetic_rules();
[[nodiscard]] std::span<const NamedRule> cast_rules();
[[nodiscard]] std::span<const NamedRule> compare_rules();
[[nodiscard]] std::span<const NamedRule> reduce_rules();
[[nodiscard]] std::span<const NamedRule> generate_rules();
[[nodiscard]] std::span<const NamedRule> sorting_rules();

// What most rules return: one output, or nothing known.
[[nodiscard]] inline Contents single(Content content) { return Contents{std::move(content)}; }
[[nodiscard]] inline Contents nothing() { return {}; }
[[nodiscard]] inline Result<Contents> single(Result<Content> content) {
  if (!content.ok()) return content.error();
  return single(*std::move(content));
}

// Returns the product of the extents. Returns nullopt if an extent is negative, if the product exceeds
// limits::kMaxFoldedElements, or if the rank exceeds limits::kMaxRank. Rules call it before they allocate memory.
[[nodiscard]] std::optional<std::int64_t> folded_count(const Extents& extents);

// Returns row-major strides in elements.
[[nodiscard]] Extents strides_of(const Extents& extents);

// Converts an axis in [-rank, rank) to one in [0, rank). Returns nullopt for other axes.
[[nodiscard]] std::optional<std::size_t> normal_axis(std::int64_t axis, std::size_t rank);
// Converts a list of axes. Returns nullopt if one is outside or repeated.
[[nodiscard]] std::optional<std::vector<std::size_t>> normal_axes(const Extents& axes, std::size_t rank);

// Returns a content of unknown elements. Returns nullptr if folded_count() fails or the type is not foldable.
[[nodiscard]] std::shared_ptr<KnownContent> blank(DType dtype, const Extents& extents);

// Returns the elements source[base + sum(index[i] * strides[i])] for every index of `extents`. This covers
// transposition, slicing and repetition. Requires: every such position is in `source`.
[[nodiscard]] Content strided(const KnownContent& source, const Extents& extents, const Extents& strides,
                              std::int64_t base);

// Returns the shape to which both broadcast by NumPy's rule, or nullopt if there is none.
[[nodiscard]] std::optional<Extents> broadcast(const Extents& a, const Extents& b);
// Returns nullptr if the result would exceed limits::kMaxFoldedElements. Requires: `source->extents` broadcasts to
// `extents`.
[[nodiscard]] Content broadcast_to(const Content& source, const Extents& extents);

// Applies a rule to each pair of elements, with the broadcasting of NumPy. `rule(left, right)` returns a KnownElement
// or an Error. Returns nullptr if the extents do not broadcast, or if blank() fails for the result.
template <typename Rule>
[[nodiscard]] Result<Content> combined_pairs(const Content& a, const Content& b, DType dtype, Rule rule) {
  const std::optional<Extents> extents = broadcast(a->extents, b->extents);
  if (!extents) return Content{};
  const Content left = broadcast_to(a, *extents);
  const Content right = broadcast_to(b, *extents);
  std::shared_ptr<KnownContent> result = blank(dtype, *extents);
  if (left == nullptr || right == nullptr || result == nullptr) return Content{};
  for (std::size_t i = 0; i < result->elements.size(); ++i) {
    Result<KnownElement> element = rule(left->elements[i], right->elements[i]);
    if (!element.ok()) return element.error();
    result->elements[i] = *std::move(element);
  }
  return Content{result};
}

// Row-major positions around one axis: `outer` indices before it, `extent` along it, and `inner` after it.
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;
  [[nodiscard]] std::size_t at(std::int64_t block, std::int64_t along, std::int64_t within) const {
    return static_cast<std::size_t>((block * extent + along) * inner + within);
  }
};
[[nodiscard]] AxisView axis_view(const Extents& extents, std::size_t axis);

}  // namespace lowtide::import_internal
