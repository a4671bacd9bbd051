// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads any bytes as a plan file. A plan that is not refused is written, read back, verified against a small graph, and
// shown. `verify` first checks that a plan names its graph, so the seeds in fuzz/seeds/plan_file are plans of this
// graph.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lowtide/graph/text.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/report/page.h"
#include "lowtide/verify/verify.h"

namespace {

constexpr std::string_view kGraph = R"(graph "g" {
  input p : bool[]
  input x : f32[2,4]
  state h : f32[2,4]
  a = Conv(x, h) : f32[2,4]
  b = Relu(a) : f32[2,4]
  c = Concat(a, b) {axis = 0} : f32[4,4]
  d = If(p) {
    then_branch = graph "then" captures (c) {
      captured input c : f32[4,4]
      n = Neg(c) : f32[4,4]
      m = Conv(n) : f32[4,4]
      output m
    },
    else_branch = graph "else" captures (c) {
      captured input c : f32[4,4]
      e = Identity(c) : f32[4,4]
      output e
    }
  } : f32[4,4]
  output d
  update h = b
})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const lowtide::Graph graph = *lowtide::parse_graph(kGraph, "fuzz");
  const auto file = lowtide::read_plan_json({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!file) return 0;
  const std::string text = lowtide::write_plan_json(file->plan, file->labels);
  const auto again = lowtide::read_plan_json(text, "written");
  if (!again || lowtide::write_plan_json(again->plan, again->labels) != text) std::abort();
  static_cast<void>(lowtide::verify(graph, file->plan));
  static_cast<void>(lowtide::page({file->plan, file->labels}));
  return 0;
}
