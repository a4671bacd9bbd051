// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/weights/synthetic.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>

#include "lowtide/base/half.h"
#include "lowtide/base/quote.h"

namespace lowtide {
namespace {

// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
std::uint64_t splitmix64(std::uint64_t state) {
  state += 0x9E3779B97F4A7C15U;
  state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
  state = (state ^ (state >> 27U)) * 0x94D049BB133111EBU;
  return state ^ (state >> 31U);
}

// Fowler, Noll and Vo, FNV-1a of 64 bits.
std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (char character : text) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001B3U;
  return hash;
}

double scale_of(const Shape& shape) {
  if (shape.rank() < 2) return 0.1;
  double inputs = 1;
  for (int axis = 1; axis < shape.rank(); ++axis) inputs *= static_cast<double>(shape[axis]);
  return std::sqrt(3.0 / std::max(inputs, 1.0));
}

// Whether the constant may be a variance, whose square root is taken, or the scale of a normalization. Exporters store
// equal tensors once, so an untrained variance may have the name of a scale.
bool is_positive(const ConstantSource& source) {
  return source.name.ends_with("var") || source.name.ends_with("variance") ||
         (source.shape.rank() < 2 && source.name.ends_with("weight"));
}

template <typename T>
void fill_reals(const ConstantSource& source, std::uint64_t seed, std::span<std::byte> out) {
  const std::uint64_t first = seed ^ fnv1a(source.name);
  const bool is_around_one = is_positive(source);
  const double scale = scale_of(source.shape);
  auto* values = reinterpret_cast<T*>(out.data());
  for (std::size_t at = 0; at < out.size() / sizeof(T); ++at) {
    const double u = static_cast<double>(splitmix64(first + at) >> 40U) / 16'777'216.0;
    const double value = is_around_one ? 0.5 + u : scale * (2 * u - 1);
    if constexpr (std::is_same_v<T, Half>) {
      values[at] = to_half(static_cast<float>(value));
    } else if constexpr (std::is_same_v<T, BrainFloat>) {
      values[at] = to_brain_float(static_cast<float>(value));
    } else {
      values[at] = static_cast<T>(value);
    }
  }
}

}  // namespace

Result<void> fill_synthetic(const ConstantSource& source, std::uint64_t seed, std::span<std::byte> out) {
  switch (source.dtype) {
    case DType::f32: fill_reals<float>(source, seed, out); return {};
    case DType::f64: fill_reals<double>(source, seed, out); return {};
    case DType::f16: fill_reals<Half>(source, seed, out); return {};
    case DType::bf16: fill_reals<BrainFloat>(source, seed, out); return {};
    case DType::boolean:
    case DType::i64:
    case DType::i32:
    case DType::i16:
    case DType::i8:
    case DType::i4:
    case DType::i2:
    case DType::u64:
    case DType::u32:
    case DType::u16:
    case DType::u8:
    case DType::u4:
    case DType::u2: std::fill(out.begin(), out.end(), std::byte{0}); return {};
    default:
      return Error{ErrorCode::unsupported,
                   "there are no synthetic values of type " + std::string(to_string(source.dtype)) +
                       "; add the file with its data",
                   "constant " + quoted(source.name)};
  }
}

}  // namespace lowtide
