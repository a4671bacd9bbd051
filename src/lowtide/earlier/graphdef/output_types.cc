// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/output_types.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lowtide/base/disjoint_sets.h"
#include "lowtide/earlier/graphdef/node_walk.h"
#include "lowtide/earlier/graphdef/told_extents.h"

namespace lowtide {
namespace {

using graphdef_internal::Extents;
using graphdef_internal::KnownShapes;
using graphdef_internal::KnownTensor;
using graphdef_internal::NodeWalk;
using graphdef_internal::SameShape;
using graphdef_internal::WalkedNode;

OutputType type_of(const KnownTensor& known) {
  OutputType type{.extents = known.extents, .content = known.content};
  if (!known.dtype) return type;
  type.data_type = graphdef_internal::data_type_of(*known.dtype);
  type.element_bytes = bits_of(*known.dtype).value_or(0) / 8;
  return type;
}

std::vector<OutputType> types_of(const NodeWalk& walk, std::uint32_t at) {
  std::vector<OutputType> types;
  const WalkedNode& node = walk.nodes()[at];
  for (std::uint32_t port = 0; port < node.outputs.size(); ++port) {
    const auto source = walk.source({at, port});
    types.push_back(type_of(walk.nodes()[source.first].outputs[source.second]));
  }
  return types;
}

// Sets of outputs that have one shape.
class ShapeClasses {
 public:
  explicit ShapeClasses(const NodeWalk& walk) : walk_(walk) {
    std::uint32_t count = 0;
    for (const WalkedNode& node : walk.nodes()) {
      first_.push_back(count);
      count += static_cast<std::uint32_t>(node.outputs.size());
    }
    sets_.emplace(count);
    for (std::uint32_t at = 0; at < walk.nodes().size(); ++at) unite_inputs(at);
  }

  // Adds what members of a set know to the others. Whether there was something new.
  bool share(KnownShapes& known) {
    std::map<TensorId, Extents> of_set;
    for_each_output([&](const Output& output, const std::optional<Extents>& extents) {
      if (!extents) return;
      const auto [found, is_new] = of_set.try_emplace(set_of(output), *extents);
      if (!is_new) found->second = graphdef_internal::merged_extents(std::move(found->second), *extents);
    });
    bool is_changed = false;
    for_each_output([&](const Output& output, const std::optional<Extents>& extents) {
      const auto found = of_set.find(set_of(output));
      if (found == of_set.end()) return;
      const Extents merged = extents ? graphdef_internal::merged_extents(*extents, found->second) : found->second;
      if (extents == merged) return;
      known.of_outputs[output] = merged;
      is_changed = true;
    });
    return is_changed;
  }

 private:
  using Output = std::pair<std::uint32_t, std::uint32_t>;

  void unite_inputs(std::uint32_t at) {
    const WalkedNode& node = walk_.nodes()[at];
    const SameShape same = graphdef_internal::same_shape(node.view.op());
    const std::size_t count = same == SameShape::all ? node.inputs.size() : 1;
    if (same == SameShape::none || node.outputs.empty()) return;
    for (std::size_t input = 0; input < std::min(count, node.inputs.size()); ++input) {
      sets_->join(set_of(node.inputs[input]), set_of({at, 0}));
    }
  }

  template <typename Visit>
  void for_each_output(const Visit& visit) const {
    for (std::uint32_t at = 0; at < walk_.nodes().size(); ++at) {
      for (std::uint32_t port = 0; port < walk_.nodes()[at].outputs.size(); ++port) {
        visit(Output(at, port), walk_.nodes()[at].outputs[port].extents);
      }
    }
  }

  TensorId set_of(const Output& output) {
    const Output source = walk_.source(output);
    return sets_->find(TensorId(first_[source.first] + source.second));
  }

  const NodeWalk& walk_;
  std::vector<std::uint32_t> first_;  // number of the first output of each node
  std::optional<DisjointSets<TensorId>> sets_;
};

// Adds what operators say of their operands. Whether there was something new.
bool share_told_extents(const NodeWalk& walk, KnownShapes& known) {
  bool is_changed = false;
  for (const WalkedNode& node : walk.nodes()) {
    std::vector<const KnownTensor*> inputs;
    for (const auto& input : node.inputs) {
      const auto [from, port] = walk.source(input);
      inputs.push_back(&walk.nodes()[from].outputs[port]);
    }
    for (std::size_t input = 0; input < inputs.size(); ++input) {
      const std::optional<Extents> told = graphdef_internal::told_extents(node.view, inputs, input);
      if (!told) continue;
      const std::optional<Extents>& extents = inputs[input]->extents;
      if (extents && graphdef_internal::merged_extents(*extents, *told) == *extents) continue;
      Extents& now = known.of_outputs.try_emplace(walk.source(node.inputs[input]), *told).first->second;
      now = graphdef_internal::merged_extents(std::move(now), *told);
      is_changed = true;
    }
  }
  return is_changed;
}

}  // namespace

Result<std::vector<std::vector<OutputType>>> infer_output_types(const ProtoMessage& graphdef,
                                                                const std::vector<std::string>& unknown) {
  constexpr int kMostWalks = 8;
  const GraphDefOptions options;
  KnownShapes known{.forgotten = {unknown.begin(), unknown.end()}, .of_outputs = {}};
  for (int count = 1;; ++count) {
    NodeWalk walk(graphdef, options, known);
    LOWTIDE_RETURN_IF_ERROR(walk.walk());
    bool is_changed = ShapeClasses(walk).share(known);
    is_changed = share_told_extents(walk, known) || is_changed;
    if (is_changed && count < kMostWalks) continue;
    std::vector<std::vector<OutputType>> all;
    for (std::uint32_t at = 0; at < walk.nodes().size(); ++at) all.push_back(types_of(walk, at));
    return all;
  }
}

bool extents_contradict(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  if (a.size() != b.size()) return true;
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    if (a[axis] >= 0 && b[axis] >= 0 && a[axis] != b[axis]) return true;
  }
  return false;
}

std::string shown_extents(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (std::int64_t extent : extents) {
    text += (text.empty() ? "" : "x") + (extent < 0 ? std::string("?") : std::to_string(extent));
  }
  return text.empty() ? "a scalar" : text;
}

bool is_pure_operator(std::string_view op) {
  const bool is_of_variable = op == "TemporaryVariable" || op == "IsVariableInitialized" || op == "VarIsInitializedOp";
  const bool is_branch = op == "Switch" || op == "Merge";
  const bool checks = op == "CheckNumerics" || op == "EnsureShape";
  const bool may_differ = graphdef_internal::is_random(op) || op == "Empty" || op == "PlaceholderWithDefault";
  return graphdef_internal::has_rule(op) && !may_differ && !is_of_variable && !is_branch && !checks;
}

std::size_t count_written_inputs(std::string_view op) { return graphdef_internal::count_written(op); }

bool shares_memory_of_input(std::string_view op) { return graphdef_internal::is_view_of_input(op); }

}  // namespace lowtide
