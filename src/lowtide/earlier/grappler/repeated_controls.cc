// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/repeated_controls.h"

#include <set>
#include <string>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/earlier/grappler/node_links.h"

namespace lowtide::grappler_internal {
namespace {

// Whether the first input of an Identity is the data of a Switch.
bool follows_switch(const std::vector<DefNode>& nodes, const NodeLinks& links, NodeIndex at) {
  const DefNode& node = nodes[at];
  if (node.inputs.empty() || read_input(node.inputs.front()).is_control) return false;
  const bool is_identity =
      node.op == "Identity" || node.op == "RefIdentity" || (node.op == "IdentityN" && node.inputs.size() == 1);
  const std::string& source = nodes[links.inputs[at].front()].op;
  return is_identity && (source == "Switch" || source == "RefSwitch" || source == "_SwitchN");
}

void drop_in(std::vector<DefNode>& nodes, const NodeLinks& links, NodeIndex at) {
  std::vector<std::string>& inputs = nodes[at].inputs;
  std::vector<NodeIndex> sources = links.inputs[at];
  std::set<NodeIndex> seen;
  std::set<NodeIndex> seen_controls;
  std::size_t count = inputs.size();
  for (std::size_t next = 0; next < count;) {
    const NodeIndex source = sources[next];
    const bool is_control = read_input(inputs[next]).is_control;
    const bool may_drop = is_control && (seen_controls.contains(source) || !follows_switch(nodes, links, source));
    const bool is_repeated = !seen.insert(source).second;
    if (is_control) seen_controls.insert(source);
    if (!is_repeated || !may_drop) {
      ++next;
      continue;
    }
    --count;
    std::swap(inputs[next], inputs[count]);
    std::swap(sources[next], sources[count]);
  }
  inputs.resize(count);
}

}  // namespace

Result<void> drop_repeated_controls(std::vector<DefNode>& nodes) {
  LOWTIDE_TRY(const NodeLinks links, link_nodes(nodes));
  for (NodeIndex at = 0; at < nodes.size(); ++at) drop_in(nodes, links, at);
  return {};
}

}  // namespace lowtide::grappler_internal
