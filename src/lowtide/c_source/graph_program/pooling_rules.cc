// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/c_source/graph_program/rules.h"
#include "lowtide/c_source/graph_program/windows.h"

namespace lowtide::graph_program_internal {
namespace {

Result<Window> pool_window(const NodeFacts& node) {
  const std::optional<Extents> window = node.integers("kernel_shape");
  if (!window) return missing("it has no kernel_shape");
  return window_of(node, *window);
}

std::int64_t planes_of(const NodeFacts& node) { return product(node.input_shape(0), 0, 2); }

Result<NodeCalls> max_pool(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0}));
  LOWTIDE_RETURN_IF_ERROR(node.check_results(1));
  LOWTIDE_TRY(const Window window, pool_window(node));
  Parameters parameters;
  parameters.add("planes", planes_of(node));
  add_window(window, parameters);
  return NodeCalls{{{"max_pool_2d_f32", parameters.take(), {InputAt{0}, OutputAt{0}}}}};
}

// The positions of an axis that count, padding included. Those that ceil_mode adds beyond the padding never count.
std::int64_t counted(const NodeFacts& node, const WindowAxis& axis) {
  if (node.integer("count_include_pad", 0) == 0) return 0;
  return axis.input + axis.begin + axis.end;
}

Result<NodeCalls> average_pool(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0}));
  LOWTIDE_TRY(const Window window, pool_window(node));
  Parameters parameters;
  parameters.add("planes", planes_of(node));
  add_window(window, parameters);
  parameters.add("counted_rows", counted(node, window.axes[0])).add("counted_columns", counted(node, window.axes[1]));
  return NodeCalls{{{"average_pool_2d_f32", parameters.take(), {InputAt{0}, OutputAt{0}}}}};
}

// A global pool reduces each plane.
Result<NodeCalls> global_pool(const NodeFacts& node) {
  LOWTIDE_RETURN_IF_ERROR(node.check_floats({0}));
  const Extents& source = node.input_shape(0);
  if (source.size() < 3 || product(source) == 0) return missing("its planes have no elements");
  const std::int64_t plane = product(source, 2, source.size());
  Parameters parameters;
  parameters.add("counts", Extents{planes_of(node), plane, 1, 1, 1}).add("steps", Extents{plane, 1, 0, 0, 0});
  return NodeCalls{{{node.type() == "GlobalMaxPool" ? "reduce_max_f32" : "reduce_mean_f32",
                     parameters.take(),
                     {InputAt{0}, OutputAt{0}}}}};
}

constexpr auto kPoolingRules = std::to_array<Rule>({
    {"AveragePool", &average_pool},
    {"GlobalAveragePool", &global_pool},
    {"GlobalMaxPool", &global_pool},
    {"MaxPool", &max_pool},
});

}  // namespace

std::span<const Rule> pooling_rules() { return kPoolingRules; }

}  // namespace lowtide::graph_program_internal
