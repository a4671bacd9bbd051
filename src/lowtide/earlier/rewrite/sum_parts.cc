// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/sum_parts.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "lowtide/earlier/graphdef/node_attributes.h"

namespace lowtide::rewrite_internal {
namespace {

constexpr auto kPartTypes = std::to_array<std::int64_t>({1, 2, 9, 14, 19});  // f32, f64, i64, bf16, f16

bool can_have_parts(const DefNode& node) {
  if (node.op != "AddN" && node.op != "AccumulateNV2") return false;
  const std::int64_t type = attribute_type(node, "T").value_or(0);
  return std::ranges::find(kPartTypes, type) != kPartTypes.end();
}

class SumSplitter {
 public:
  explicit SumSplitter(const std::vector<DefNode>& nodes) {
    for (const DefNode& node : nodes) names_.insert(node.name);
  }

  // The operands are data inputs, at least three.
  void split(DefNode node, const std::vector<std::string>& operands, std::vector<std::string> controls,
             std::vector<DefNode>& out) {
    const std::int64_t type = attribute_type(node, "T").value_or(0);
    std::string sum = operands.front();
    for (std::size_t at = 1; at + 1 < operands.size(); ++at) {
      DefNode part{.name = free_name(node.name + "/part_" + std::to_string(at)),
                   .op = "AddV2",
                   .device = node.device,
                   .inputs = {sum, operands[at]},
                   .attributes = {}};
      set_type(part, "T", type);
      if (at == 1) std::ranges::move(controls, std::back_inserter(part.inputs));
      sum = part.name;
      out.push_back(std::move(part));
    }
    node.op = "AddV2";
    node.inputs = {sum, operands.back()};
    remove_regular_attributes(node);
    set_type(node, "T", type);
    out.push_back(std::move(node));
  }

 private:
  std::string free_name(std::string name) {
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  std::set<std::string> names_;
};

}  // namespace

SumParts split_sums(const std::vector<DefNode>& nodes, const std::vector<bool>& is_needed,
                    const std::function<std::int64_t(const std::string& node)>& rank) {
  SumParts parts;
  SumSplitter splitter(nodes);
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const DefNode& node = nodes[at];
    std::vector<std::string> operands;
    std::vector<std::string> controls;
    for (const std::string& input : node.inputs) {
      (read_input(input).is_control ? controls : operands).push_back(input);
    }
    if (!is_needed[at] || !can_have_parts(node) || operands.size() < 3) {
      parts.nodes.push_back(node);
      continue;
    }
    std::ranges::stable_sort(operands, {},
                             [&](const std::string& operand) { return rank(std::string(read_input(operand).node)); });
    splitter.split(node, operands, std::move(controls), parts.nodes);
    parts.sums.push_back(node.name);
  }
  return parts;
}

}  // namespace lowtide::rewrite_internal
