// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lowtide/kernels/math/functions.h"
#include "lowtide/kernels/plain/elementwise/elementwise.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"
#include "lowtide/kernels/plain/elementwise/typed_rows.h"

namespace lowtide::kernels_internal {
namespace {

// A function of the C library, computed in f64 and rounded once.
template <double (*function)(double)>
float rounded(float x) {
  return static_cast<float>(function(static_cast<double>(x)));
}
template <double (*function)(double)>
constexpr auto kLibrary = &unary_reals<[](float x) { return rounded<function>(x); }, function>;

float round_half_to_even(float x) {
  constexpr float kToInteger = 8388608.0F;  // 2^23: larger numbers are integers
  const float magnitude = std::fabs(x);
  const float nearest = (magnitude + kToInteger) - kToInteger;
  return magnitude < kToInteger ? std::copysign(nearest, x) : x;
}

double wide_softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
float softplus(float x) { return rounded<&wide_softplus>(x); }

// alpha * (e^x - 1), without cancellation near 0
float exponential_tail(float x, float alpha) { return alpha * rounded<&std::expm1>(x); }
double exponential_tail(double x, double alpha) { return alpha * std::expm1(x); }

double wide_sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double wide_swish(double x, double alpha, double /*unused*/) { return x * wide_sigmoid(alpha * x); }
double wide_mish(double x) { return x * std::tanh(wide_softplus(x)); }

float gelu(float x, float is_approximate, float /*unused*/) {
  if (is_approximate != 0.0F) {
    const float inner = 0.797884561F * (x + 0.044715F * x * x * x);  // sqrt(2 / pi)
    return 0.5F * x * (1.0F + tanh_f32(inner));
  }
  return 0.5F * x * (1.0F + erf_f32(x * 0.707106781F));
}

double wide_gelu(double x, double is_approximate, double /*unused*/) {
  if (is_approximate != 0) {
    const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(inner));
  }
  return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}

template <typename T>
T absolute(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::fabs(x);
  if constexpr (std::is_unsigned_v<T>) return x;
  return x < 0 ? wrapped(T{0}, x, [](auto a, auto b) { return a - b; }) : x;  // the lowest integer stays
}

template <typename T>
T sign(T x) {
  if constexpr (std::is_floating_point_v<T>) return x > 0 ? T{1} : (x < 0 ? T{-1} : x);  // 0 and NaN stay
  return static_cast<T>((x > 0) - (x < T{0}));
}

constexpr auto kIsInfinite = [](auto x, auto finds_negative, auto finds_positive) {
  const bool is_found = x < 0 ? finds_negative != 0 : finds_positive != 0;
  return static_cast<std::uint8_t>(std::isinf(x) && is_found ? 1 : 0);
};
constexpr auto kIsNan = [](auto x) { return static_cast<std::uint8_t>(std::isnan(x) ? 1 : 0); };

// A question to each element.
template <auto compute>
RowFunction asked_of_reals(DType first, DType /*second*/, DType result) {
  if (result != DType::boolean) return nullptr;
  return for_reals(first, []<typename T>() -> RowFunction { return &unary_row<compute, T, std::uint8_t>; });
}
RowFunction not_function(DType first, DType /*second*/, DType result) {
  constexpr auto kNot = [](std::uint8_t x) { return static_cast<std::uint8_t>(x == 0 ? 1 : 0); };
  return first == DType::boolean && result == first ? &unary_row<kNot, std::uint8_t> : nullptr;
}
constexpr auto kFlip = []<typename T>(T x) { return static_cast<T>(~x); };
RowFunction bitwise_not_function(DType first, DType /*second*/, DType result) {
  if (first != result) return nullptr;
  return for_integer_bits(first, []<typename T>() -> RowFunction { return &unary_row<kFlip, T>; });
}

// A comparison with NaN is false, so the functions below return x where x is NaN. Shrink gives 0 there, because ONNX
// defines it as 0 wherever x is neither below -lambd nor above lambd.
constexpr auto kElu = []<typename T>(T x, T alpha, T) { return x < 0 ? exponential_tail(x, alpha) : x; };
constexpr auto kCelu = []<typename T>(T x, T alpha, T) { return x < 0 ? exponential_tail(x / alpha, alpha) : x; };
constexpr auto kSelu = []<typename T>(T x, T alpha, T gamma) {
  return gamma * (x < 0 ? exponential_tail(x, alpha) : x);
};
constexpr auto kShrink = []<typename T, typename Wide>(T x, Wide bias, Wide lambd) {
  const auto wide = static_cast<Wide>(x);
  return static_cast<T>(wide < -lambd ? wide + bias : (wide > lambd ? wide - bias : Wide{0}));
};
constexpr auto kHardSigmoid = []<typename T>(T x, T alpha, T beta) {
  const T line = alpha * x + beta;
  const T above = line < 0 ? T{0} : line;
  return above > 1 ? T{1} : above;
};
constexpr auto kHardSwish = []<typename T>(T x) {
  const T line = x * static_cast<T>(1.0F / 6.0F) + T{1} / T{2};  // ONNX defines it by a HardSigmoid, whose alpha is f32
  const T above = line < 0 ? T{0} : line;
  return x * (above > 1 ? T{1} : above);
};
constexpr auto kLeakyRelu = []<typename T>(T x, T alpha, T) { return x < 0 ? alpha * x : x; };
constexpr auto kRelu = []<typename T>(T x) { return x < T{0} ? T{0} : x; };
constexpr auto kNegative = []<typename T>(T x) {
  if constexpr (std::is_floating_point_v<T>) return -x;
  return wrapped(T{0}, x, [](auto a, auto b) { return a - b; });
};
constexpr auto kThresholdedRelu = []<typename T>(T x, T alpha, T) { return x > alpha ? x : T{0}; };

// Sorted by type.
constexpr std::array kUnaryTable{
    ElementwiseOperator{on_numbers("Abs"), 1, &unary_numbers<[](auto x) { return absolute(x); }>},
    ElementwiseOperator{on_reals("Acos"), 1, kLibrary<&std::acos>},
    ElementwiseOperator{on_reals("Acosh"), 1, kLibrary<&std::acosh>},
    ElementwiseOperator{on_reals("Asin"), 1, kLibrary<&std::asin>},
    ElementwiseOperator{on_reals("Asinh"), 1, kLibrary<&std::asinh>},
    ElementwiseOperator{on_reals("Atan"), 1, kLibrary<&std::atan>},
    ElementwiseOperator{on_reals("Atanh"), 1, kLibrary<&std::atanh>},
    ElementwiseOperator{on_integers("BitwiseNot"), 1, &bitwise_not_function},
    ElementwiseOperator{on_reals("Ceil"), 1, &unary_reals<[](auto x) { return std::ceil(x); }>},
    ElementwiseOperator{.op = on_reals("Celu"), .function = &unary_reals<kCelu>, .numbers = {{{"alpha", 1.0}}}},
    ElementwiseOperator{on_reals("Cos"), 1, kLibrary<&std::cos>},
    ElementwiseOperator{on_reals("Cosh"), 1, kLibrary<&std::cosh>},
    ElementwiseOperator{.op = on_reals("Elu"), .function = &unary_reals<kElu>, .numbers = {{{"alpha", 1.0}}}},
    ElementwiseOperator{on_reals("Erf"), 1, &unary_reals<&erf_f32, [](double x) { return std::erf(x); }>},
    ElementwiseOperator{on_reals("Exp"), 1, &unary_reals<&exp_f32, [](double x) { return std::exp(x); }>},
    ElementwiseOperator{on_reals("Floor"), 1, &unary_reals<[](auto x) { return std::floor(x); }>},
    ElementwiseOperator{
        .op = on_reals("Gelu"), .function = &unary_reals<&gelu, &wide_gelu>, .numbers = {{{"approximate", 0, "tanh"}}}},
    ElementwiseOperator{.op = on_reals("HardSigmoid"),
                        .function = &unary_reals<kHardSigmoid>,
                        .numbers = {{{"alpha", 0.2}, {"beta", 0.5}}}},
    ElementwiseOperator{on_reals("HardSwish"), 1, &unary_reals<kHardSwish>},
    ElementwiseOperator{.op = on_reals("IsInf"),
                        .function = &asked_of_reals<kIsInfinite>,
                        .numbers = {{{"detect_negative", 1}, {"detect_positive", 1}}}},
    ElementwiseOperator{on_reals("IsNaN"), 1, &asked_of_reals<kIsNan>},
    ElementwiseOperator{
        .op = on_reals("LeakyRelu"), .function = &unary_reals<kLeakyRelu>, .numbers = {{{"alpha", 0.01}}}},
    ElementwiseOperator{on_reals("Log"), 1, &unary_reals<&log_f32, [](double x) { return std::log(x); }>},
    ElementwiseOperator{on_reals("Mish"), 1,
                        &unary_reals<[](float x) { return x * tanh_f32(softplus(x)); }, &wide_mish>},
    ElementwiseOperator{on_numbers("Neg"), 1, &unary_numbers<kNegative>},
    ElementwiseOperator{on_booleans("Not"), 1, &not_function},
    ElementwiseOperator{on_reals("Reciprocal"), 1, &unary_reals<[](auto x) { return 1 / x; }>},
    ElementwiseOperator{on_numbers("Relu"), 1, &unary_numbers<kRelu>},
    ElementwiseOperator{on_reals("Round"), 1,
                        &unary_reals<&round_half_to_even, [](double x) { return std::nearbyint(x); }>},
    ElementwiseOperator{.op = on_reals("Selu"),
                        .function = &unary_reals<kSelu>,
                        .numbers = {{{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}}},
    ElementwiseOperator{
        .op = on_numbers("Shrink"), .function = &unary_numbers<kShrink>, .numbers = {{{"bias", 0}, {"lambd", 0.5}}}},
    ElementwiseOperator{on_reals("Sigmoid"), 1, &unary_reals<&sigmoid_f32, &wide_sigmoid>},
    ElementwiseOperator{on_numbers("Sign"), 1, &unary_numbers<[](auto x) { return sign(x); }>},
    ElementwiseOperator{on_reals("Sin"), 1, kLibrary<&std::sin>},
    ElementwiseOperator{on_reals("Sinh"), 1, kLibrary<&std::sinh>},
    ElementwiseOperator{on_reals("Softplus"), 1, &unary_reals<&softplus, &wide_softplus>},
    ElementwiseOperator{on_reals("Softsign"), 1, &unary_reals<[](auto x) { return x / (1 + std::fabs(x)); }>},
    ElementwiseOperator{on_reals("Sqrt"), 1, &unary_reals<[](auto x) { return std::sqrt(x); }>},
    ElementwiseOperator{
        .op = on_reals("Swish"),
        .function = &unary_reals<[](float x, float alpha, float) { return x * sigmoid_f32(alpha * x); }, &wide_swish>,
        .numbers = {{{"alpha", 1.0}}}},
    ElementwiseOperator{on_reals("Tan"), 1, kLibrary<&std::tan>},
    ElementwiseOperator{on_reals("Tanh"), 1, &unary_reals<&tanh_f32, [](double x) { return std::tanh(x); }>},
    ElementwiseOperator{
        .op = on_reals("ThresholdedRelu"), .function = &unary_reals<kThresholdedRelu>, .numbers = {{{"alpha", 1.0}}}},
};
constexpr std::array kUnaryOperators = operators_of(kUnaryTable);

}  // namespace

std::span<const ElementwiseOperator> unary_table() { return kUnaryTable; }

Family unary_family() {
  return {.name = "unary",
          .operators = kUnaryOperators,
          .offer = [](const OfferInput& input) { return offer_elementwise(kUnaryTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_elementwise(kUnaryTable, input); }};
}

}  // namespace lowtide::kernels_internal
