// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "lowtide/import/onnx/fold/element_arithmetic.h"
#include "lowtide/import/onnx/fold/fold_node.h"

// Rules of operators that combine many elements into one: Reduce*, ArgMax, ArgMin, CumSum.
namespace lowtide::import_internal {
namespace {

enum class Reduction : std::uint8_t { sum, mean, product, least, greatest };

// The reduction of an empty set; nullopt if ONNX leaves it undefined.
std::optional<KnownElement> neutral_element(Reduction reduction, DType dtype) {
  const bool is_real = is_float(dtype);
  switch (reduction) {
    case Reduction::sum:
    case Reduction::mean: return is_real ? exact_real(0) : exact_integer(0);
    case Reduction::product: return is_real ? exact_real(1) : exact_integer(1);
    case Reduction::least:
    case Reduction::greatest: break;
  }
  return std::nullopt;
}

BinaryRule combination(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::mean: return add_elements;
    case Reduction::product: return multiply_elements;
    case Reduction::least: return least_element;
    case Reduction::greatest: return greatest_element;
  }
  return add_elements;
}

// The axes that are reduced; nullopt if unknown.
std::optional<std::vector<bool>> reduced_axes(const FoldNode& node, std::size_t rank) {
  const ListSetting axes = node.list("axes", 1);
  if (axes.is_given && !axes.values) return std::nullopt;
  std::vector<bool> is_reduced(rank, false);
  if (!axes.is_given || axes.values->empty()) {
    const bool reduces_all = node.integer("noop_with_empty_axes", 0) == 0;
    return std::vector<bool>(rank, reduces_all);
  }
  const auto chosen = normal_axes(*axes.values, rank);
  if (!chosen) return std::nullopt;
  for (const std::size_t axis : *chosen) is_reduced[axis] = true;
  return is_reduced;
}

// Completes the reduction of `count` elements. Reals were combined in double precision and are rounded here, once.
KnownElement finished(Reduction reduction, DType dtype, const KnownElement& total, std::int64_t count) {
  if (!is_float(dtype)) {
    if (reduction != Reduction::mean) return total;
    // Kernels disagree on whether a mean of integers is truncated or floored, so it is exact only if it is a whole
    // number.
    if (total.knowledge != Knowledge::exact || count == 0 || total.integer % count != 0) return {};
    return exact_integer(total.integer / count);
  }
  std::optional<RealRange> range = real_range(total);
  if (!range) return {};
  if (reduction == Reduction::mean) {
    range->low /= static_cast<double>(count);
    range->high /= static_cast<double>(count);
  }
  return element_of(dtype, *range);
}

template <Reduction reduction>
Result<Contents> reduce(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr) return nothing();
  const auto is_reduced = reduced_axes(node, source->extents.size());
  if (!is_reduced) return nothing();
  Extents full = source->extents;  // with every reduced axis kept as 1
  Extents kept;
  const bool keeps = node.integer("keepdims", 1) != 0;
  for (std::size_t axis = 0; axis < full.size(); ++axis) {
    if ((*is_reduced)[axis]) full[axis] = 1;
    if (!(*is_reduced)[axis] || keeps) kept.push_back(full[axis]);
  }
  std::shared_ptr<KnownContent> result = blank(source->dtype, kept);
  if (result == nullptr || result->elements.empty()) return single(result);

  // Stride in the result for each axis of the source: 0 along a reduced axis.
  Extents steps = strides_of(full);
  for (std::size_t axis = 0; axis < full.size(); ++axis) {
    if ((*is_reduced)[axis]) steps[axis] = 0;
  }
  const DType inner = is_float(source->dtype) ? DType::f64 : source->dtype;
  const BinaryRule rule = combination(reduction);
  std::vector<std::int64_t> counts(result->elements.size(), 0);
  Extents index(full.size(), 0);
  std::int64_t to = 0;
  for (const KnownElement& element : source->elements) {
    KnownElement& total = result->elements[static_cast<std::size_t>(to)];
    total = counts[static_cast<std::size_t>(to)]++ == 0 ? element : *rule(inner, total, element);
    for (std::size_t axis = full.size(); axis-- > 0;) {
      to += steps[axis];
      if (++index[axis] < source->extents[axis]) break;
      to -= steps[axis] * source->extents[axis];
      index[axis] = 0;
    }
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) {
      const std::optional<KnownElement> neutral = neutral_element(reduction, source->dtype);
      if (!neutral || reduction == Reduction::mean) return nothing();
      result->elements[i] = *neutral;
      continue;
    }
    result->elements[i] = finished(reduction, source->dtype, result->elements[i], counts[i]);
  }
  return single(result);
}

template <bool is_max>
Result<Contents> arg_extreme(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr) return nothing();
  const std::optional<std::size_t> axis = normal_axis(node.integer("axis", 0), source->extents.size());
  if (!axis || source->extents[*axis] == 0) return nothing();
  const bool takes_last = node.integer("select_last_index", 0) != 0;
  const AxisView view = axis_view(source->extents, *axis);
  Extents extents = source->extents;
  extents[*axis] = 1;
  if (node.integer("keepdims", 1) == 0) extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(*axis));
  std::shared_ptr<KnownContent> result = blank(DType::i64, extents);
  if (result == nullptr || result->elements.empty()) return single(result);
  const bool is_real = is_float(source->dtype);
  for (std::int64_t block = 0; block < view.outer; ++block) {
    for (std::int64_t within = 0; within < view.inner; ++within) {
      std::int64_t best = 0;
      bool is_known = true;
      for (std::int64_t i = 0; i < view.extent && is_known; ++i) {
        const KnownElement& element = source->elements[view.at(block, i, within)];
        const KnownElement& champion = source->elements[view.at(block, best, within)];
        is_known = element.knowledge == Knowledge::exact && !(is_real && std::isnan(element.real));
        const bool is_equal = is_real ? element.real == champion.real : element.integer == champion.integer;
        const bool is_above = is_real ? element.real > champion.real : element.integer > champion.integer;
        if (is_equal ? takes_last : is_above == is_max) best = i;
      }
      KnownElement& to = result->elements[static_cast<std::size_t>(block * view.inner + within)];
      // Even an unknown result is an index and therefore less than the extent.
      to = is_known ? exact_integer(best) : element_of(DType::i64, IntegerRange{0, view.extent - 1});
    }
  }
  return single(result);
}

Result<Contents> cumulative_sum(const FoldNode& node) {
  const Content source = node.content(0);
  const std::optional<std::int64_t> given = node.exact_scalar(1);
  if (source == nullptr || !given) return nothing();
  const std::optional<std::size_t> axis = normal_axis(*given, source->extents.size());
  if (!axis) return nothing();
  const bool is_exclusive = node.integer("exclusive", 0) != 0;
  const bool is_reverse = node.integer("reverse", 0) != 0;
  auto result = std::make_shared<KnownContent>(*source);
  if (source->elements.empty()) return single(result);
  const AxisView view = axis_view(source->extents, *axis);
  for (std::int64_t block = 0; block < view.outer; ++block) {
    for (std::int64_t within = 0; within < view.inner; ++within) {
      KnownElement total = is_float(source->dtype) ? exact_real(0) : exact_integer(0);
      for (std::int64_t i = 0; i < view.extent; ++i) {
        const std::size_t at = view.at(block, is_reverse ? view.extent - 1 - i : i, within);
        const KnownElement next = *add_elements(source->dtype, total, source->elements[at]);
        result->elements[at] = is_exclusive ? total : next;
        total = next;
      }
    }
  }
  return single(result);
}

}  // namespace

std::span<const NamedRule> reduce_rules() {
  static constexpr NamedRule kRules[] = {
      {"ReduceSum", reduce<Reduction::sum>},
      {"ReduceMean", reduce<Reduction::mean>},
      {"ReduceProd", reduce<Reduction::product>},
      {"ReduceMin", reduce<Reduction::least>},
      {"ReduceMax", reduce<Reduction::greatest>},
      {"ArgMax", arg_extreme<true>},
      {"ArgMin", arg_extreme<false>},
      {"CumSum", cumulative_sum},
  };
  return kRules;
}

}  // namespace lowtide::import_internal
