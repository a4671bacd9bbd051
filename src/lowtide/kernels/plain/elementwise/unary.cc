// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "lowtide/kernels/math/functions.h"
#include "lowtide/kernels/plain/elementwise/elementwise.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"

namespace lowtide::kernels_internal {
namespace {

// A function of the C library, computed in f64 and rounded once.
template <double (*function)(double)>
float rounded(float x) {
  return static_cast<float>(function(static_cast<double>(x)));
}
template <double (*function)(double)>
constexpr auto kLibrary = &unary_floats<[](float x) { return rounded<function>(x); }>;

float round_half_to_even(float x) {
  constexpr float kToInteger = 8388608.0F;  // 2^23: larger numbers are integers
  const float magnitude = std::fabs(x);
  const float nearest = (magnitude + kToInteger) - kToInteger;
  return magnitude < kToInteger ? std::copysign(nearest, x) : x;
}

float softplus(float x) {
  const auto wide = static_cast<double>(x);
  return static_cast<float>(std::max(wide, 0.0) + std::log1p(std::exp(-std::fabs(wide))));
}

// alpha * (e^x - 1), without cancellation near 0
float exponential_tail(float x, float alpha) { return alpha * rounded<&std::expm1>(x); }

float gelu(float x, float is_approximate, float /*unused*/) {
  if (is_approximate != 0.0F) {
    const float inner = 0.797884561F * (x + 0.044715F * x * x * x);  // sqrt(2 / pi)
    return 0.5F * x * (1.0F + tanh_f32(inner));
  }
  return 0.5F * x * (1.0F + erf_f32(x * 0.707106781F));
}

template <typename T>
T absolute(T x) {
  if constexpr (std::is_same_v<T, float>) return std::fabs(x);
  if constexpr (std::is_unsigned_v<T>) return x;
  return x < 0 ? wrapped(T{0}, x, [](auto a, auto b) { return a - b; }) : x;  // the lowest integer stays
}

template <typename T>
T sign(T x) {
  if constexpr (std::is_same_v<T, float>) return x > 0.0F ? 1.0F : (x < 0.0F ? -1.0F : x);  // 0 and NaN stay
  return static_cast<T>((x > 0) - (x < T{0}));
}

std::uint8_t is_infinite(float x, float finds_negative, float finds_positive) {
  const bool is_found = x < 0.0F ? finds_negative != 0.0F : finds_positive != 0.0F;
  return std::isinf(x) && is_found ? 1 : 0;
}

RowFunction is_inf_function(DType first, DType /*second*/, DType result) {
  const bool is_known = first == DType::f32 && result == DType::boolean;
  return is_known ? &unary_row<&is_infinite, float, std::uint8_t> : nullptr;
}
RowFunction is_nan_function(DType first, DType /*second*/, DType result) {
  constexpr auto kIsNan = [](float x) { return static_cast<std::uint8_t>(std::isnan(x) ? 1 : 0); };
  return first == DType::f32 && result == DType::boolean ? &unary_row<kIsNan, float, std::uint8_t> : nullptr;
}
RowFunction not_function(DType first, DType /*second*/, DType result) {
  constexpr auto kNot = [](std::uint8_t x) { return static_cast<std::uint8_t>(x == 0 ? 1 : 0); };
  return first == DType::boolean && result == first ? &unary_row<kNot, std::uint8_t> : nullptr;
}
RowFunction bitwise_not_function(DType first, DType second, DType result) {
  constexpr auto kFlip = []<typename T>(T x) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(~x);
    return x;
  };
  return unary_numbers<kFlip>(first, second, result);
}

// A comparison with NaN is false, so the functions below return x where x is NaN. Shrink gives 0 there, because ONNX
// defines it as 0 wherever x is neither below -lambd nor above lambd.
constexpr auto kElu = [](float x, float alpha, float) { return x < 0.0F ? exponential_tail(x, alpha) : x; };
constexpr auto kCelu = [](float x, float alpha, float) { return x < 0.0F ? exponential_tail(x / alpha, alpha) : x; };
constexpr auto kSelu = [](float x, float alpha, float gamma) {
  return gamma * (x < 0.0F ? exponential_tail(x, alpha) : x);
};
constexpr auto kShrink = [](auto x, float bias, float lambd) {
  const auto wide = static_cast<float>(x);
  return static_cast<decltype(x)>(wide < -lambd ? wide + bias : (wide > lambd ? wide - bias : 0.0F));
};
constexpr auto kHardSigmoid = [](float x, float alpha, float beta) {
  const float line = alpha * x + beta;
  const float above = line < 0.0F ? 0.0F : line;
  return above > 1.0F ? 1.0F : above;
};
constexpr auto kHardSwish = [](float x) {
  const float line = x * (1.0F / 6.0F) + 0.5F;
  const float above = line < 0.0F ? 0.0F : line;
  return x * (above > 1.0F ? 1.0F : above);
};
constexpr auto kRelu = []<typename T>(T x) { return x < T{0} ? T{0} : x; };
constexpr auto kNegative = []<typename T>(T x) {
  if constexpr (std::is_same_v<T, float>) return -x;
  return wrapped(T{0}, x, [](auto a, auto b) { return a - b; });
};
constexpr auto kThresholdedRelu = [](float x, float alpha, float) { return x > alpha ? x : 0.0F; };

// Sorted by type.
constexpr std::array kUnaryTable{
    ElementwiseOperator{on_numbers("Abs"), 1, &unary_numbers<[](auto x) { return absolute(x); }>},
    ElementwiseOperator{on_floats("Acos"), 1, kLibrary<&std::acos>},
    ElementwiseOperator{on_floats("Acosh"), 1, kLibrary<&std::acosh>},
    ElementwiseOperator{on_floats("Asin"), 1, kLibrary<&std::asin>},
    ElementwiseOperator{on_floats("Asinh"), 1, kLibrary<&std::asinh>},
    ElementwiseOperator{on_floats("Atan"), 1, kLibrary<&std::atan>},
    ElementwiseOperator{on_floats("Atanh"), 1, kLibrary<&std::atanh>},
    ElementwiseOperator{on_integers("BitwiseNot"), 1, &bitwise_not_function},
    ElementwiseOperator{on_floats("Ceil"), 1, &unary_floats<[](float x) { return std::ceil(x); }>},
    ElementwiseOperator{.op = on_floats("Celu"), .function = &unary_floats<kCelu>, .numbers = {{{"alpha", 1.0}}}},
    ElementwiseOperator{on_floats("Cos"), 1, kLibrary<&std::cos>},
    ElementwiseOperator{on_floats("Cosh"), 1, kLibrary<&std::cosh>},
    ElementwiseOperator{.op = on_floats("Elu"), .function = &unary_floats<kElu>, .numbers = {{{"alpha", 1.0}}}},
    ElementwiseOperator{on_floats("Erf"), 1, &unary_floats<&erf_f32>},
    ElementwiseOperator{on_floats("Exp"), 1, &unary_floats<&exp_f32>},
    ElementwiseOperator{on_floats("Floor"), 1, &unary_floats<[](float x) { return std::floor(x); }>},
    ElementwiseOperator{
        .op = on_floats("Gelu"), .function = &unary_floats<&gelu>, .numbers = {{{"approximate", 0, "tanh"}}}},
    ElementwiseOperator{.op = on_floats("HardSigmoid"),
                        .function = &unary_floats<kHardSigmoid>,
                        .numbers = {{{"alpha", 0.2}, {"beta", 0.5}}}},
    ElementwiseOperator{on_floats("HardSwish"), 1, &unary_floats<kHardSwish>},
    ElementwiseOperator{.op = on_floats("IsInf"),
                        .function = &is_inf_function,
                        .numbers = {{{"detect_negative", 1}, {"detect_positive", 1}}}},
    ElementwiseOperator{on_floats("IsNaN"), 1, &is_nan_function},
    ElementwiseOperator{.op = on_floats("LeakyRelu"),
                        .function = &unary_floats<[](float x, float alpha, float) { return x < 0.0F ? alpha * x : x; }>,
                        .numbers = {{{"alpha", 0.01}}}},
    ElementwiseOperator{on_floats("Log"), 1, &unary_floats<&log_f32>},
    ElementwiseOperator{on_floats("Mish"), 1, &unary_floats<[](float x) { return x * tanh_f32(softplus(x)); }>},
    ElementwiseOperator{on_numbers("Neg"), 1, &unary_numbers<kNegative>},
    ElementwiseOperator{on_booleans("Not"), 1, &not_function},
    ElementwiseOperator{on_floats("Reciprocal"), 1, &unary_floats<[](float x) { return 1.0F / x; }>},
    ElementwiseOperator{on_numbers("Relu"), 1, &unary_numbers<kRelu>},
    ElementwiseOperator{on_floats("Round"), 1, &unary_floats<&round_half_to_even>},
    ElementwiseOperator{.op = on_floats("Selu"),
                        .function = &unary_floats<kSelu>,
                        .numbers = {{{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}}},
    ElementwiseOperator{
        .op = on_numbers("Shrink"), .function = &unary_numbers<kShrink>, .numbers = {{{"bias", 0}, {"lambd", 0.5}}}},
    ElementwiseOperator{on_floats("Sigmoid"), 1, &unary_floats<&sigmoid_f32>},
    ElementwiseOperator{on_numbers("Sign"), 1, &unary_numbers<[](auto x) { return sign(x); }>},
    ElementwiseOperator{on_floats("Sin"), 1, kLibrary<&std::sin>},
    ElementwiseOperator{on_floats("Sinh"), 1, kLibrary<&std::sinh>},
    ElementwiseOperator{on_floats("Softplus"), 1, &unary_floats<&softplus>},
    ElementwiseOperator{on_floats("Softsign"), 1, &unary_floats<[](float x) { return x / (1.0F + std::fabs(x)); }>},
    ElementwiseOperator{on_floats("Sqrt"), 1, &unary_floats<[](float x) { return std::sqrt(x); }>},
    ElementwiseOperator{
        .op = on_floats("Swish"),
        .function = &unary_floats<[](float x, float alpha, float) { return x * sigmoid_f32(alpha * x); }>,
        .numbers = {{{"alpha", 1.0}}}},
    ElementwiseOperator{on_floats("Tan"), 1, kLibrary<&std::tan>},
    ElementwiseOperator{on_floats("Tanh"), 1, &unary_floats<&tanh_f32>},
    ElementwiseOperator{
        .op = on_floats("ThresholdedRelu"), .function = &unary_floats<kThresholdedRelu>, .numbers = {{{"alpha", 1.0}}}},
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
