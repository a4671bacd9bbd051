// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/prepared_choice.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "lowtide/adapt/size_choice.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/typed_name.h"
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

// Whether both are the name of one symbol. Each of them may have escapes, because 'prepare' keeps names as they were
// given.
bool is_same_symbol(std::string_view a, std::string_view b) {
  std::string meant;
  return means_name(a, b) || means_name(b, a) || (unescaped(a, meant) && means_name(b, meant));
}

// What follows the name of the symbol in Provenance::dims, such as "8" of "batch=8". nullopt: the plan has no number
// for it.
std::optional<std::string_view> extent_of(const PreparedHead& head, std::string_view symbol) {
  for (std::string_view written : head.plan.plan.provenance.dims) {
    const std::size_t end = written.rfind('=');
    if (end != std::string_view::npos && is_same_symbol(symbol, written.substr(0, end))) return written.substr(end + 1);
  }
  return std::nullopt;
}

// An input by its name, as it is or with escapes. nullptr: there is none.
const Shape* find_input(const std::map<std::string, Shape>& inputs, const std::string& given) {
  auto input = inputs.find(given);
  std::string meant;
  if (input == inputs.end() && unescaped(given, meant)) input = inputs.find(meant);
  return input == inputs.end() ? nullptr : &input->second;
}

bool has_sizes(const PreparedHead& head, const ImportOptions& asked) {
  for (const auto& [name, extent] : asked.dims) {
    if (extent_of(head, name) != std::to_string(extent)) return false;
  }
  const std::map<std::string, Shape> inputs = inputs_of(head.graph);
  for (const auto& [name, extents] : asked.shapes) {
    const Shape* input = find_input(inputs, name);
    if (input == nullptr || !has_shape(*input, extents)) return false;
  }
  for (const auto& meanings : asked.given) {
    // The longest name that the plan has counts (ImportOptions::given).
    const Shape* planned_shape = nullptr;
    const Extents* extents = nullptr;
    std::size_t longest = 0;
    for (const auto& [name, given] : meanings) {
      const Shape* input = find_input(inputs, name);
      if (input == nullptr || (extents != nullptr && name.size() <= longest)) continue;
      planned_shape = input;
      extents = &given;
      longest = name.size();
    }
    if (extents != nullptr && !takes_extents(*planned_shape, *extents)) return false;
  }
  return true;
}

// Sizes as messages show them. A name that has escapes already does not get them twice.
std::string shown_size(const std::string& written) {
  std::string meant;
  return quoted(unescaped(written, meant) ? meant : written, 60);
}

// "'batch=3' and 'x=[3,8]'"
std::string shown(const ImportOptions& asked) {
  std::vector<std::string> sizes;
  for (const auto& [name, extent] : asked.dims) sizes.push_back(shown_size(name + "=" + std::to_string(extent)));
  for (const auto& [name, extents] : asked.shapes) sizes.push_back(shown_size(written_shape(name, extents)));
  for (const auto& meanings : asked.given) {
    if (meanings.empty()) continue;
    const auto& [name, extents] = *meanings.begin();
    sizes.push_back(shown_size(written_shape(name, extents)));
  }
  return listed(sizes, "and");
}

// What to do if sizes fit no plan. A file that was prepared for shapes of inputs does not know their symbols.
std::string way_out(std::span<const PreparedHead> heads, const ImportOptions& asked) {
  for (const auto& [name, extent] : asked.dims) {
    if (std::ranges::any_of(heads, [&](const PreparedHead& head) { return extent_of(head, name).has_value(); }))
      continue;
    return "it was not prepared for extents of " + shown_size(name) + "; choose by the shape of an input";
  }
  return "give one of these sizes, or prepare the model for this one";
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
                   sizes_of_plans(heads) + "; " + way_out(heads, asked),
               shown_path(path)};
}

std::string sizes_of_plans(std::span<const PreparedHead> heads) {
  std::vector<std::string> all;
  for (const PreparedHead& head : heads) {
    const std::vector<std::string>& dims = head.plan.plan.provenance.dims;
    all.push_back(dims.empty() ? "the sizes of the file" : shown_size(listed(dims)));
  }
  return listed(all, "and");
}

}  // namespace lowtide::engine_internal
