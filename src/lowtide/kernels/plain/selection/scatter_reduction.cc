// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/selection/scatter_reduction.h"

#include "lowtide/base/half.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/number_types.h"
#include "lowtide/kernels/plain/elementwise/typed_rows.h"

namespace lowtide::kernels_internal {
namespace {

template <typename T, auto operation>
void combine(const std::byte* from, std::byte* to, std::int64_t count) {
  const auto* x = reinterpret_cast<const T*>(from);
  auto* y = reinterpret_cast<T*>(to);
  for (std::int64_t at = 0; at < count; ++at) {
    if constexpr (std::is_same_v<T, Half>) {
      y[at] = to_half(operation(to_float(y[at]), to_float(x[at])));
    } else if constexpr (std::is_same_v<T, BrainFloat>) {
      y[at] = to_brain_float(operation(to_float(y[at]), to_float(x[at])));
    } else {
      y[at] = operation(y[at], x[at]);
    }
  }
}

template <auto operation>
Combine of_type(DType dtype) {
  if (dtype == DType::f16) return &combine<Half, operation>;
  if (dtype == DType::bf16) return &combine<BrainFloat, operation>;
  if (dtype == DType::boolean || bits_of(dtype).value_or(0) % 8 != 0) return nullptr;
  return with_number_type(dtype, []<typename T>(T) -> Combine { return &combine<T, operation>; });
}

}  // namespace

Combine combine_of(std::string_view reduction, DType dtype) {
  // A NaN wins.
  constexpr auto kLarger = []<typename T>(T a, T b) { return a < b || is_nan(b) ? b : a; };
  constexpr auto kSmaller = []<typename T>(T a, T b) { return b < a || is_nan(b) ? b : a; };
  constexpr auto kSum = []<typename T>(T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x + y; }); };
  constexpr auto kProduct = []<typename T>(T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x * y; }); };
  if (reduction == "add") return of_type<kSum>(dtype);
  if (reduction == "mul") return of_type<kProduct>(dtype);
  if (reduction == "max") return of_type<kLarger>(dtype);
  return reduction == "min" ? of_type<kSmaller>(dtype) : nullptr;
}

}  // namespace lowtide::kernels_internal
