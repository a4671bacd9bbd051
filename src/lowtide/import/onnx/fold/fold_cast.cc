// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "lowtide/import/onnx/fold/fold_node.h"

// Cast and CastLike by ONNX's table of conversions. Integers keep their low bits. A float becomes the nearest number of
// another float type. As an integer, it is truncated towards zero. As a bool, everything except 0 is true.
namespace lowtide::import_internal {
namespace {

constexpr double kTwoTo63 = 0x1p63;

// Returns nullopt if ONNX leaves the result undefined.
std::optional<std::int64_t> integer_of(DType to, double number) {
  const double whole = std::trunc(number);
  if (!(whole >= -kTwoTo63 && whole < kTwoTo63)) return std::nullopt;
  const auto result = static_cast<std::int64_t>(whole);
  if (result < lowest_of(to) || result > highest_of(to)) return std::nullopt;
  return result;
}

KnownElement cast_to_bool(DType from, const KnownElement& element) {
  if (element.knowledge != Knowledge::exact) {
    return element.knowledge == Knowledge::at_most ? element_of(DType::boolean, IntegerRange{0, 1}) : KnownElement{};
  }
  return exact_bool(is_float(from) ? !(element.real == 0) : element.integer != 0);
}

KnownElement cast_integer(DType from, DType to, const KnownElement& element) {
  if (is_float(to)) {
    const std::optional<IntegerRange> range = integer_range(element);
    if (!range || (element.knowledge == Knowledge::unknown)) return {};
    return element_of(to, RealRange{rounded(to, static_cast<double>(range->low)),
                                    rounded(to, static_cast<double>(range->high)), range->is_exact()});
  }
  if (element.knowledge == Knowledge::exact) return element_of(to, IntegerRange{element.integer, element.integer});
  if (element.knowledge == Knowledge::at_most) return element_of(to, IntegerRange{0, element.integer});
  // An unknown extent keeps its symbol in integers of at least 32 bits. A narrower type could truncate it.
  const bool holds_extents = *bits_of(to) >= 32 && is_integer(from);
  return holds_extents ? element : KnownElement{};
}

KnownElement cast_float(DType to, const KnownElement& element) {
  if (element.knowledge == Knowledge::unknown) return {};
  if (is_float(to)) return element_of(to, RealRange{element.real, element.real, element.knowledge == Knowledge::exact});
  const std::optional<std::int64_t> result = integer_of(to, element.real);
  if (!result) return {};
  const std::int64_t low = element.knowledge == Knowledge::exact ? *result : 0;
  return element_of(to, IntegerRange{low, *result});
}

Result<Contents> cast_to(const FoldNode& node, std::optional<DType> to) {
  const Content source = node.content(0);
  if (source == nullptr || !to || !is_foldable(*to)) return nothing();
  if (*to == source->dtype) return single(source);
  auto result = std::make_shared<KnownContent>(*source);
  result->dtype = *to;
  for (KnownElement& element : result->elements) {
    if (*to == DType::boolean) {
      element = cast_to_bool(source->dtype, element);
    } else if (is_float(source->dtype)) {
      element = cast_float(*to, element);
    } else {
      element = cast_integer(source->dtype, *to, element);
    }
  }
  return single(result);
}

Result<Contents> cast(const FoldNode& node) { return cast_to(node, dtype_of_onnx_number(node.integer("to", 0))); }
Result<Contents> cast_like(const FoldNode& node) { return cast_to(node, node.dtype(1)); }

}  // namespace

std::span<const NamedRule> cast_rules() {
  static constexpr NamedRule kRules[] = {{"Cast", cast}, {"CastLike", cast_like}};
  return kRules;
}

}  // namespace lowtide::import_internal
