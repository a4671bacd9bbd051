// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "lowtide/base/try.h"
#include "lowtide/import/onnx/fold/element_arithmetic.h"
#include "lowtide/import/onnx/fold/fold_node.h"

// Rules of element-wise arithmetic with the broadcasting of NumPy.
namespace lowtide::import_internal {
namespace {

// Applies a rule to each pair of elements of two contents of one type.
Result<Content> combined(const Content& a, const Content& b, BinaryRule rule) {
  if (a->dtype != b->dtype) return Content{};
  return combined_pairs(
      a, b, a->dtype, [&](const KnownElement& left, const KnownElement& right) { return rule(a->dtype, left, right); });
}

// Combines all inputs from left to right. A single input is returned unchanged.
Result<Content> combined_inputs(const FoldNode& node, BinaryRule rule) {
  Content result;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const Content next = node.content_or_unknown(i);
    if (next == nullptr) return Content{};
    if (result == nullptr) {
      result = next;
      continue;
    }
    Result<Content> both = combined(result, next, rule);
    if (!both.ok() || *both == nullptr) return both;
    result = std::move(both).value();
  }
  return result;
}

template <BinaryRule rule>
Result<Contents> variadic(const FoldNode& node) {
  // Returns early if no input is known: most nodes of a network add tensors whose contents are unknown.
  bool is_any_known = false;
  for (std::size_t i = 0; i < node.input_count() && !is_any_known; ++i) is_any_known = node.content(i) != nullptr;
  if (!is_any_known) return nothing();
  return single(combined_inputs(node, rule));
}

Result<Contents> modulo(const FoldNode& node) {
  return node.integer("fmod", 0) != 0 ? variadic<remainder_elements>(node) : variadic<modulo_elements>(node);
}

Result<Contents> mean(const FoldNode& node) {
  LOWTIDE_TRY(Content sum, combined_inputs(node, add_elements));
  if (sum == nullptr || !is_float(sum->dtype)) return nothing();
  auto count = std::make_shared<KnownContent>();
  count->dtype = sum->dtype;
  count->elements = {exact_real(rounded(count->dtype, static_cast<double>(node.input_count())))};
  return single(combined(sum, count, divide_elements));
}

template <UnaryRule rule>
Result<Contents> unary(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr) return nothing();
  auto result = std::make_shared<KnownContent>(*source);
  for (KnownElement& element : result->elements) element = rule(source->dtype, element);
  return single(result);
}

KnownElement negated(DType dtype, const KnownElement& a) {
  if (a.knowledge != Knowledge::exact) return {};
  if (is_float(dtype)) return exact_real(-a.real);
  return element_of(dtype, IntegerRange{-Int128{a.integer}, -Int128{a.integer}});
}

KnownElement absolute(DType dtype, const KnownElement& a) {
  if (a.knowledge != Knowledge::exact) return a;  // a bound or an extent is never negative
  if (is_float(dtype)) return exact_real(std::fabs(a.real));
  return a.integer < 0 ? negated(dtype, a) : a;
}

KnownElement not_negative(DType dtype, const KnownElement& a) {
  if (a.knowledge != Knowledge::exact) return a;  // as above
  if (is_float(dtype)) return a.real < 0 ? exact_real(0) : a;
  return a.integer < 0 ? exact_integer(0) : a;
}

KnownElement sign(DType dtype, const KnownElement& a) {
  if (a.knowledge == Knowledge::exact) {
    if (is_float(dtype)) return std::isnan(a.real) ? a : exact_real((a.real > 0 ? 1 : 0) - (a.real < 0 ? 1 : 0));
    return exact_integer((a.integer > 0 ? 1 : 0) - (a.integer < 0 ? 1 : 0));
  }
  if (is_float(dtype)) {
    return a.knowledge == Knowledge::at_most ? element_of(dtype, RealRange{0, 1, false}) : KnownElement{};
  }
  return integer_range(a) ? element_of(dtype, IntegerRange{0, 1}) : KnownElement{};
}

// Applies a float function that never decreases on [0, inf) and maps 0 to at least 0. It therefore maps an upper bound
// to an upper bound.
template <double (*function)(double)>
KnownElement rising(DType dtype, const KnownElement& a) {
  if (!is_float(dtype)) return {};
  const std::optional<RealRange> range = real_range(a);
  if (!range) return {};
  return element_of(dtype, RealRange{function(range->low), function(range->high), range->is_exact});
}

template <double (*function)(double)>
KnownElement pointwise(DType dtype, const KnownElement& a) {
  if (!is_float(dtype) || a.knowledge != Knowledge::exact) return {};
  return exact_real(rounded(dtype, function(a.real)));
}

double half_to_even(double number) { return std::nearbyint(number); }
double reciprocal(double number) { return 1.0 / number; }
double floor_of(double number) { return std::floor(number); }
double ceil_of(double number) { return std::ceil(number); }
double sqrt_of(double number) { return std::sqrt(number); }
double exp_of(double number) { return std::exp(number); }
double log_of(double number) { return std::log(number); }

KnownElement power(DType dtype, const KnownElement& base, DType exponent_dtype, const KnownElement& exponent) {
  if (is_integer(dtype) && is_integer(exponent_dtype)) return integer_power(dtype, base, exponent);
  if (base.knowledge != Knowledge::exact || exponent.knowledge != Knowledge::exact) return {};
  const double left = is_integer(dtype) ? static_cast<double>(base.integer) : base.real;
  const double right = is_integer(exponent_dtype) ? static_cast<double>(exponent.integer) : exponent.real;
  const double result = std::pow(left, right);
  if (is_float(dtype)) return exact_real(rounded(dtype, result));
  // Computes an integer to a fractional power only if the result is a whole number on which every kernel agrees.
  if (!(std::fabs(result) < 0x1p53) || result != std::trunc(result)) return {};
  return element_of(dtype, IntegerRange{static_cast<std::int64_t>(result), static_cast<std::int64_t>(result)});
}

Result<Contents> pow_rule(const FoldNode& node) {
  const Content base = node.content(0);
  const Content exponent = node.content(1);
  if (base == nullptr || exponent == nullptr) return nothing();
  return single(combined_pairs(base, exponent, base->dtype, [&](const KnownElement& left, const KnownElement& right) {
    return power(base->dtype, left, exponent->dtype, right);
  }));
}

// A limit of Clip: an input, an attribute, or omitted. The element is unknown if the limit is given but not known.
struct ClipLimit {
  bool is_given = false;
  KnownElement element;
};

ClipLimit clip_limit(const FoldNode& node, std::string_view attribute, std::size_t input, DType dtype) {
  if (const auto* number = find_attribute<double>(node.request().attributes, attribute)) {
    return {true, is_float(dtype) ? exact_real(rounded(dtype, *number)) : KnownElement{}};
  }
  if (!node.has_input(input)) return {};
  const Content content = node.content(input);
  if (content == nullptr || content->elements.size() != 1 || content->dtype != dtype) return {true, {}};
  return {true, content->elements[0]};
}

Result<Contents> clip(const FoldNode& node) {
  const Content source = node.content_or_unknown(0);
  if (source == nullptr) return nothing();
  const ClipLimit low = clip_limit(node, "min", 1, source->dtype);
  const ClipLimit high = clip_limit(node, "max", 2, source->dtype);
  auto result = std::make_shared<KnownContent>(*source);
  for (KnownElement& element : result->elements) {
    if (low.is_given) {
      // Exact limits give even an unknown element a range.
      const bool is_bounded = high.is_given && high.element.knowledge == Knowledge::exact &&
                              low.element.knowledge == Knowledge::exact && is_integer(source->dtype) &&
                              element.knowledge == Knowledge::unknown && element.symbol.empty();
      if (is_bounded && low.element.integer >= 0 && high.element.integer >= 0) {
        element = element_of(source->dtype,
                             IntegerRange{std::min(low.element.integer, high.element.integer), high.element.integer});
        continue;
      }
      element = *greatest_element(source->dtype, element, low.element);
    }
    if (high.is_given) element = *least_element(source->dtype, element, high.element);
  }
  return single(result);
}

template <typename Combine>
Result<Contents> bitwise(const FoldNode& node, Combine combine) {
  const Content a = node.content(0);
  const Content b = node.content(1);
  if (a == nullptr || b == nullptr || !is_integer(a->dtype) || a->dtype != b->dtype) return nothing();
  return single(combined_pairs(a, b, a->dtype, [&](const KnownElement& x, const KnownElement& y) -> KnownElement {
    if (x.knowledge != Knowledge::exact || y.knowledge != Knowledge::exact) return {};
    return combine(a->dtype, x.integer, y.integer);
  }));
}

Result<Contents> bit_shift(const FoldNode& node) {
  const std::string_view direction = node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") return nothing();
  const bool is_left = direction == "LEFT";
  return bitwise(node, [is_left](DType dtype, std::int64_t x, std::int64_t by) -> KnownElement {
    if (x < 0 || by < 0 || by >= *bits_of(dtype)) return {};
    const Int128 result = is_left ? Int128{x} << by : Int128{x} >> by;
    return element_of(dtype, IntegerRange{result, result});
  });
}

Result<Contents> bitwise_and(const FoldNode& node) {
  return bitwise(node, [](DType, std::int64_t x, std::int64_t y) { return exact_integer(x & y); });
}
Result<Contents> bitwise_or(const FoldNode& node) {
  return bitwise(node, [](DType, std::int64_t x, std::int64_t y) { return exact_integer(x | y); });
}
Result<Contents> bitwise_xor(const FoldNode& node) {
  return bitwise(node, [](DType, std::int64_t x, std::int64_t y) { return exact_integer(x ^ y); });
}

}  // namespace

std::span<const NamedRule> arithmetic_rules() {
  static constexpr NamedRule kRules[] = {
      {"Add", variadic<add_elements>},
      {"Sub", variadic<subtract_elements>},
      {"Mul", variadic<multiply_elements>},
      {"Div", variadic<divide_elements>},
      {"Mod", modulo},
      {"Pow", pow_rule},
      {"Min", variadic<least_element>},
      {"Max", variadic<greatest_element>},
      {"Sum", variadic<add_elements>},
      {"Mean", mean},
      {"Neg", unary<negated>},
      {"Abs", unary<absolute>},
      {"Sign", unary<sign>},
      {"Relu", unary<not_negative>},
      {"Floor", unary<rising<floor_of>>},
      {"Ceil", unary<rising<ceil_of>>},
      {"Round", unary<rising<half_to_even>>},
      {"Sqrt", unary<rising<sqrt_of>>},
      {"Exp", unary<rising<exp_of>>},
      {"Reciprocal", unary<pointwise<reciprocal>>},
      {"Log", unary<pointwise<log_of>>},
      {"Clip", clip},
      {"BitShift", bit_shift},
      {"BitwiseAnd", bitwise_and},
      {"BitwiseOr", bitwise_or},
      {"BitwiseXor", bitwise_xor},
  };
  return kRules;
}

}  // namespace lowtide::import_internal
