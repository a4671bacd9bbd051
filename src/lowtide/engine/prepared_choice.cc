// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/prepared_choice.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "lowtide/adapt/size_choice.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/engine/takes_extents.h"
#include "lowtide/graph/lowered.h"

namespace lowtide::engine_internal {
namespace {

using Extents = std::vector<std::int64_t>;

// What a run of the graph is given.
std::map<std::string, Shape> inputs_of(const Graph& graph) {
  std::map<std::string, Shape> inputs;
  for (TensorId id : graph.inputs()) inputs.emplace(graph.tensor(id).name, graph.tensor(id).shape);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (!is_caller(graph.op(id))) continue;
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (output) inputs.emplace(graph.tensor(*output).name, graph.tensor(*output).shape);
    }
  }
  return inputs;
}

// Whether the input has this shape, in which -1 is any extent.
bool has_shape(const Shape& shape, const Extents& asked) {
  if (static_cast<int>(asked.size()) != shape.rank()) return false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t extent = asked[static_cast<std::size_t>(axis)];
    if (extent >= 0 && extent != shape[axis]) return false;
  }
  return true;
}

bool has_sizes(const PreparedHead& head, const ImportOptions& asked) {
  const std::vector<std::string>& planned = head.plan.plan.provenance.dims;
  for (const auto& [name, extent] : asked.dims) {
    if (std::ranges::find(planned, name + "=" + std::to_string(extent)) == planned.end()) return false;
  }
  const std::map<std::string, Shape> inputs = inputs_of(head.graph);
  for (const auto& [name, extents] : asked.shapes) {
    const auto input = inputs.find(name);
    if (input == inputs.end() || !has_shape(input->second, extents)) return false;
  }
  for (const auto& meanings : asked.given) {
    // The longest name that the plan has counts (ImportOptions::given).
    const Shape* planned_shape = nullptr;
    const Extents* extents = nullptr;
    std::size_t longest = 0;
    for (const auto& [name, given] : meanings) {
      const auto input = inputs.find(name);
      if (input == inputs.end() || (extents != nullptr && name.size() <= longest)) continue;
      planned_shape = &input->second;
      extents = &given;
      longest = name.size();
    }
    if (extents != nullptr && !takes_extents(*planned_shape, *extents)) return false;
  }
  return true;
}

// "'batch=3' and 'x=[3,8]'"
std::string shown(const ImportOptions& asked) {
  std::vector<std::string> sizes;
  for (const auto& [name, extent] : asked.dims) sizes.push_back(quoted(name + "=" + std::to_string(extent), 60));
  for (const auto& [name, extents] : asked.shapes) sizes.push_back(quoted(written_shape(name, extents), 60));
  for (const auto& meanings : asked.given) {
    if (meanings.empty()) continue;
    const auto& [name, extents] = *meanings.begin();
    sizes.push_back(quoted(written_shape(name, extents), 60));
  }
  return listed(sizes, "and");
}

}  // namespace

Result<std::vector<std::size_t>> choose_prepared(std::span<const PreparedHead> heads, const ImportOptions& asked,
                                                 const std::string& path) {
  std::vector<std::size_t> chosen;
  for (std::size_t at = 0; at < heads.size(); ++at) {
    if (has_sizes(heads[at], asked)) chosen.push_back(at);
  }
  if (!chosen.empty()) return chosen;
  return Error{ErrorCode::invalid,
               "there is no plan for " + shown(asked) + " in this prepared file, which has plans for " +
                   sizes_of_plans(heads) + "; give one of these sizes, or prepare the model for this one",
               shown_path(path)};
}

std::string sizes_of_plans(std::span<const PreparedHead> heads) {
  std::vector<std::string> all;
  for (const PreparedHead& head : heads) {
    const std::vector<std::string>& dims = head.plan.plan.provenance.dims;
    all.push_back(dims.empty() ? "the sizes of the file" : quoted(listed(dims), 60));
  }
  return listed(all, "and");
}

}  // namespace lowtide::engine_internal
