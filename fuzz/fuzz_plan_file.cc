// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes as a plan file: refused or read; what is read is verified against a small graph without a crash.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lowtide/graph/text.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/report/page.h"
#include "lowtide/verify/verify.h"

namespace {

constexpr std::string_view kGraph = R"(graph "g" {
  input x : f32[2,4]
  a = Conv(x) : f32[2,4]
  b = Relu(a) : f32[2,4]
  c = Concat(a, b) {axis = 0} : f32[4,4]
  output c
})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const lowtide::Graph graph = *lowtide::parse_graph(kGraph, "fuzz");
  const auto file = lowtide::read_plan_json({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!file) return 0;
  static_cast<void>(lowtide::verify(graph, file->plan));
  static_cast<void>(lowtide::page({file->plan, file->labels}));
  return 0;
}
