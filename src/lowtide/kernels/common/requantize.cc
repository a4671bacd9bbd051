// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/requantize.h"

#include "lowtide/kernels/common/vector_clones.h"

namespace lowtide::kernels_internal {
namespace {

template <typename T>
LOWTIDE_VECTOR_CLONES void requantize_row(const std::int32_t* sums, std::int64_t count, const Requantization& by,
                                          T* to) {
  const auto [factor, offset, scale, zero] = by;
  for (std::int64_t at = 0; at < count; ++at) {
    to[at] = quantized<T>((static_cast<float>(sums[at]) * factor + offset) / scale, zero);
  }
}

template <typename T>
void requantize_to(T* to, std::int64_t step, std::span<const std::int32_t> sums, const Requantization& with) {
  if (step == 1) return requantize_row(sums.data(), static_cast<std::int64_t>(sums.size()), with, to);
  for (std::size_t at = 0; at < sums.size(); ++at) {
    to[static_cast<std::int64_t>(at) * step] =
        quantized<T>((static_cast<float>(sums[at]) * with.factor + with.offset) / with.scale, with.zero);
  }
}

template <typename T>
LOWTIDE_VECTOR_CLONES void requantize_row_of_columns(std::span<const std::int32_t> sums, std::int32_t row_sum,
                                                     const ColumnRequantization& by, T* to) {
  const float scale = by.scale;
  const std::int32_t zero = by.zero;
  const auto factor = static_cast<std::uint32_t>(row_sum);
  for (std::size_t at = 0; at < sums.size(); ++at) {
    std::uint32_t sum = static_cast<std::uint32_t>(sums[at]) + static_cast<std::uint32_t>(by.corrections[at]);
    if (by.zeros != nullptr) sum -= static_cast<std::uint32_t>(by.zeros[at]) * factor;
    to[at] = quantized<T>(
        (static_cast<float>(static_cast<std::int32_t>(sum)) * by.factors[at] + by.offsets[at]) / scale, zero);
  }
}

template <typename T>
LOWTIDE_VECTOR_CLONES void quantize_to(const float* x, std::int64_t count, float scale, std::int32_t zero, T* y) {
  for (std::int64_t at = 0; at < count; ++at) y[at] = quantized<T>(x[at] / scale, zero);
}
template <typename T>
LOWTIDE_VECTOR_CLONES void dequantize_from(const T* x, std::int64_t count, float scale, std::int32_t zero, float* y) {
  for (std::int64_t at = 0; at < count; ++at) y[at] = static_cast<float>(x[at] - zero) * scale;
}

}  // namespace

void requantize(const BoundTensor& result, std::int64_t begin, std::int64_t step, std::span<const std::int32_t> sums,
                const Requantization& with) {
  if (result.dtype == DType::i8) {
    requantize_to(mutable_elements<std::int8_t>(result) + begin, step, sums, with);
  } else {
    requantize_to(mutable_elements<std::uint8_t>(result) + begin, step, sums, with);
  }
}

void requantize_columns(const BoundTensor& result, std::int64_t begin, std::span<const std::int32_t> sums,
                        std::int32_t row_sum, const ColumnRequantization& with) {
  if (result.dtype == DType::i8) {
    requantize_row_of_columns(sums, row_sum, with, mutable_elements<std::int8_t>(result) + begin);
  } else {
    requantize_row_of_columns(sums, row_sum, with, mutable_elements<std::uint8_t>(result) + begin);
  }
}

void quantize_row(std::span<const float> x, const ScaleAndZero& by, std::int8_t* y) {
  quantize_to(x.data(), static_cast<std::int64_t>(x.size()), by.scale, by.zero, y);
}
void quantize_row(std::span<const float> x, const ScaleAndZero& by, std::uint8_t* y) {
  quantize_to(x.data(), static_cast<std::int64_t>(x.size()), by.scale, by.zero, y);
}
void dequantize_row(std::span<const std::int8_t> x, const ScaleAndZero& by, float* y) {
  dequantize_from(x.data(), static_cast<std::int64_t>(x.size()), by.scale, by.zero, y);
}
void dequantize_row(std::span<const std::uint8_t> x, const ScaleAndZero& by, float* y) {
  dequantize_from(x.data(), static_cast<std::int64_t>(x.size()), by.scale, by.zero, y);
}

}  // namespace lowtide::kernels_internal
