// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "lowtide/import/onnx/fold/fold_node.h"

// Rules of comparison, logic and choice. The result of a comparison is known if the ranges of its operands do not
// overlap. For example, an unknown extent is never -1, and a bounded extent never exceeds its bound.
namespace lowtide::import_internal {
namespace {

enum class Truth : std::uint8_t { no, yes, unknown };

KnownElement element_of_truth(Truth truth) {
  return truth == Truth::unknown ? KnownElement{} : exact_bool(truth == Truth::yes);
}

Truth truth_of(const KnownElement& element) {
  if (element.knowledge == Knowledge::at_most && element.integer == 0) return Truth::no;
  if (element.knowledge != Knowledge::exact) return Truth::unknown;
  return element.integer != 0 ? Truth::yes : Truth::no;
}

// Decide a < b and a == b from the ends of two ranges.
template <typename Number>
Truth is_less(Number a_low, Number a_high, Number b_low, Number b_high) {
  if (a_high < b_low) return Truth::yes;
  if (a_low >= b_high) return Truth::no;
  return Truth::unknown;
}
template <typename Number>
Truth is_equal(Number a_low, Number a_high, Number b_low, Number b_high) {
  if (a_high < b_low || b_high < a_low) return Truth::no;
  if (a_low == a_high && b_low == b_high && a_low == b_low) return Truth::yes;
  return Truth::unknown;
}

struct Comparison {
  Truth less;     // a < b
  Truth greater;  // a > b
  Truth equal;
};

Comparison compare(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (is_integer(dtype)) {
    const auto x = integer_range(a);
    const auto y = integer_range(b);
    if (!x || !y) return {Truth::unknown, Truth::unknown, Truth::unknown};
    return {is_less(x->low, x->high, y->low, y->high), is_less(y->low, y->high, x->low, x->high),
            is_equal(x->low, x->high, y->low, y->high)};
  }
  const auto x = real_range(a);
  const auto y = real_range(b);
  if (!x || !y) return {Truth::unknown, Truth::unknown, Truth::unknown};
  if (std::isnan(x->low) || std::isnan(y->low)) return {Truth::no, Truth::no, Truth::no};
  return {is_less(x->low, x->high, y->low, y->high), is_less(y->low, y->high, x->low, x->high),
          is_equal(x->low, x->high, y->low, y->high)};
}

// x or y, in three-valued logic.
Truth any_of(Truth x, Truth y) {
  if (x == Truth::yes || y == Truth::yes) return Truth::yes;
  return x == Truth::no && y == Truth::no ? Truth::no : Truth::unknown;
}
Truth not_of(Truth x) {
  if (x == Truth::unknown) return x;
  return x == Truth::yes ? Truth::no : Truth::yes;
}

bool is_nan(DType dtype, const KnownElement& element) {
  return is_float(dtype) && element.knowledge == Knowledge::exact && std::isnan(element.real);
}

KnownElement equal(DType dtype, const KnownElement& a, const KnownElement& b) {
  return element_of_truth(compare(dtype, a, b).equal);
}
KnownElement less(DType dtype, const KnownElement& a, const KnownElement& b) {
  return element_of_truth(compare(dtype, a, b).less);
}
KnownElement greater(DType dtype, const KnownElement& a, const KnownElement& b) {
  return element_of_truth(compare(dtype, a, b).greater);
}
// Computes a <= b as not (a > b). With "less or equal" the result would be unknown for ranges that touch, because they
// are neither certainly less nor certainly equal. No comparison with NaN holds.
KnownElement less_or_equal(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (is_nan(dtype, a) || is_nan(dtype, b)) return exact_bool(false);
  return element_of_truth(not_of(compare(dtype, a, b).greater));
}
KnownElement greater_or_equal(DType dtype, const KnownElement& a, const KnownElement& b) {
  return less_or_equal(dtype, b, a);
}
KnownElement logical_and(DType /*dtype*/, const KnownElement& a, const KnownElement& b) {
  return element_of_truth(not_of(any_of(not_of(truth_of(a)), not_of(truth_of(b)))));
}
KnownElement logical_or(DType /*dtype*/, const KnownElement& a, const KnownElement& b) {
  return element_of_truth(any_of(truth_of(a), truth_of(b)));
}
KnownElement logical_xor(DType /*dtype*/, const KnownElement& a, const KnownElement& b) {
  if (truth_of(a) == Truth::unknown || truth_of(b) == Truth::unknown) return {};
  return exact_bool(truth_of(a) != truth_of(b));
}

using PairRule = KnownElement (*)(DType dtype, const KnownElement& a, const KnownElement& b);

template <PairRule rule>
Result<Contents> pairwise(const FoldNode& node) {
  if (node.content(0) == nullptr && node.content(1) == nullptr) return nothing();
  const Content a = node.content_or_unknown(0);
  const Content b = node.content_or_unknown(1);
  if (a == nullptr || b == nullptr || a->dtype != b->dtype) return nothing();
  return single(
      combined_pairs(a, b, DType::boolean, [&](const KnownElement& left, const KnownElement& right) -> KnownElement {
        return rule(a->dtype, left, right);
      }));
}

template <KnownElement (*rule)(DType, const KnownElement&)>
Result<Contents> each(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr) return nothing();
  auto result = std::make_shared<KnownContent>(*source);
  result->dtype = DType::boolean;
  for (KnownElement& element : result->elements) element = rule(source->dtype, element);
  return single(result);
}

KnownElement logical_not(DType /*dtype*/, const KnownElement& a) { return element_of_truth(not_of(truth_of(a))); }

// A bounded element is a finite number.
KnownElement is_not_a_number(DType dtype, const KnownElement& a) {
  if (!is_float(dtype) || a.knowledge == Knowledge::unknown) return {};
  return exact_bool(is_nan(dtype, a));
}

Result<Contents> is_infinite(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr || !is_float(source->dtype)) return nothing();
  const bool counts_negative = node.integer("detect_negative", 1) != 0;
  const bool counts_positive = node.integer("detect_positive", 1) != 0;
  auto result = std::make_shared<KnownContent>(*source);
  result->dtype = DType::boolean;
  for (KnownElement& element : result->elements) {
    if (element.knowledge == Knowledge::unknown) continue;
    const bool is_counted = element.real > 0 ? counts_positive : counts_negative;
    element = exact_bool(std::isinf(element.real) && is_counted);
  }
  return single(result);
}

KnownElement chosen(DType dtype, Truth condition, const KnownElement& yes, const KnownElement& no) {
  if (condition == Truth::unknown) return either(dtype, yes, no);
  return condition == Truth::yes ? yes : no;
}

Result<Contents> where(const FoldNode& node) {
  const Content condition = node.content_or_unknown(0);
  const Content yes = node.content_or_unknown(1);
  const Content no = node.content_or_unknown(2);
  if (condition == nullptr || yes == nullptr || no == nullptr || yes->dtype != no->dtype) return nothing();
  std::optional<Extents> extents = broadcast(yes->extents, no->extents);
  if (extents) extents = broadcast(*extents, condition->extents);
  if (!extents) return nothing();
  const Content conditions = broadcast_to(condition, *extents);
  const Content left = broadcast_to(yes, *extents);
  const Content right = broadcast_to(no, *extents);
  std::shared_ptr<KnownContent> result = blank(yes->dtype, *extents);
  if (conditions == nullptr || left == nullptr || right == nullptr || result == nullptr) return nothing();
  for (std::size_t i = 0; i < result->elements.size(); ++i) {
    const Truth truth = truth_of(conditions->elements[i]);
    result->elements[i] = chosen(yes->dtype, truth, left->elements[i], right->elements[i]);
  }
  return single(result);
}

}  // namespace

std::span<const NamedRule> compare_rules() {
  static constexpr NamedRule kRules[] = {
      {"Equal", pairwise<equal>},
      {"Less", pairwise<less>},
      {"Greater", pairwise<greater>},
      {"LessOrEqual", pairwise<less_or_equal>},
      {"GreaterOrEqual", pairwise<greater_or_equal>},
      {"And", pairwise<logical_and>},
      {"Or", pairwise<logical_or>},
      {"Xor", pairwise<logical_xor>},
      {"Not", each<logical_not>},
      {"IsNaN", each<is_not_a_number>},
      {"IsInf", is_infinite},
      {"Where", where},
  };
  return kRules;
}

}  // namespace lowtide::import_internal
