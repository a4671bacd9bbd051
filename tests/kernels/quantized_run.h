// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/kernels/cpu_target.h"
#include "tests/kernels/kernel_run.h"

namespace lowtide::testing {

// A line of a graph.
inline std::string input_line(const std::string& name, const std::string& type) {
  return " input " + name + " : " + type + "\n";
}

// Numbers for scales, from 0.01 to 0.035, or for a bias of f32, around zero.
inline TensorData random_scales(TensorData data, bool is_bias, Random& random) {
  std::vector<float> values(data.bytes.size() / sizeof(float));
  for (float& value : values) value = 0.01F + static_cast<float>(random.below(1000)) / 40'000.0F;
  if (is_bias) std::ranges::transform(values, values.begin(), [](float value) { return 1000 * (value - 0.02F); });
  return tensor_data(DType::f32, data.extents, values);
}

inline std::vector<std::byte> result_of(const Graph& graph, const char* kernel, const std::vector<TensorData>& reads,
                                        int threads, Team* team = nullptr) {
  KernelRun run(graph, kernel);
  run.threads = threads;
  run.team = team;
  EXPECT_EQ(run.run(reads), RunStatus());
  return run.writes[0].bytes;
}

// Whether more than an eighth of the results are off the limits of 8 bits, which would hide wrong sums.
inline bool has_inner_values(const std::vector<std::byte>& result) {
  const auto is_inner = [](std::byte at) { return at > std::byte{2} && at < std::byte{250}; };
  return std::ranges::count_if(result, is_inner) > static_cast<std::ptrdiff_t>(result.size() / 8);
}

inline bool has_products_of_bytes() {
  const std::string isa = machine_key().isa;
  return isa == "avx2_vnni" || (isa.starts_with("avx512_core") && isa != "avx512_core");
}

}  // namespace lowtide::testing
