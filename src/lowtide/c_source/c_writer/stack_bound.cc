// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_writer/stack_bound.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lowtide {
namespace {

// The run only calls kernels one after another, and initialization needs no more.
constexpr Bytes kRun = Bytes(64);

struct KernelStack {
  std::string_view name;
  Bytes stack;  // with its helpers
};
// clang-format off
constexpr auto kKernels = std::to_array<KernelStack>({
    {"average_pool_2d_i8", Bytes(144)}, {"conv_2d_f32", Bytes(736)}, {"conv_2d_i8", Bytes(336)}, {"copy", Bytes(64)},
    {"conv_2d_nhwc_f32", Bytes(736)}, {"cos_f32", Bytes(592)},
    {"depthwise_conv_2d_i8", Bytes(272)}, {"depthwise_conv_2d_nhwc_f32", Bytes(400)}, {"fill", Bytes(64)},
    {"fully_connected_i8", Bytes(272)},
    {"matmul_f32", Bytes(560)}, {"max_pool_2d_i8", Bytes(128)}, {"move", Bytes(128)}, {"sin_f32", Bytes(592)},
    {"softmax_i8", Bytes(160)}, {"softmax_i8_i16", Bytes(160)}, {"tan_f32", Bytes(592)},
});
// clang-format on
// Of a kernel that is not in the table.
constexpr Bytes kOther = Bytes(384);

}  // namespace

std::optional<Bytes> stack_bound(const CProgram& program) {
  if (program.cmsis) return std::nullopt;
  Bytes most;
  for (const CCall& call : program.calls) {
    const auto* known = std::ranges::find(kKernels, call.kernel, &KernelStack::name);
    most = std::max(most, known == kKernels.end() ? kOther : known->stack);
  }
  return kRun + most;
}

}  // namespace lowtide
