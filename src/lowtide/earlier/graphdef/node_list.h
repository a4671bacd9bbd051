// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"

// The nodes of a GraphDef as data that can be edited and written back.
namespace lowtide {

// A node. `others` has its fields that have no member here, so that they survive.
struct DefNode {
  std::string name;
  std::string op;
  std::string device;
  std::vector<std::string> inputs;       // "node", "node:1" or, for a control input, "^node"
  std::vector<ProtoMessage> attributes;  // entries of a key and a value
  ProtoMessage others = {};
};

// What an input names. The views are valid as long as the text of the input.
struct DefInput {
  std::string_view node;
  std::int64_t port = 0;
  bool is_control = false;
};

[[nodiscard]] std::vector<DefNode> nodes_of_graphdef(const ProtoMessage& graphdef);

[[nodiscard]] std::int64_t count_nodes(const ProtoMessage& graphdef);

// The same GraphDef with these nodes in place of its own.
[[nodiscard]] ProtoMessage with_nodes(const ProtoMessage& graphdef, std::vector<DefNode> nodes);

// The binary form or the text form. Errors: unsupported, for a field that has no name in the text form.
[[nodiscard]] Result<std::string> write_graphdef(const ProtoMessage& graphdef, bool is_text);

[[nodiscard]] DefInput read_input(std::string_view input);

// "node 'conv' ('Conv2D')"
[[nodiscard]] std::string shown_node(std::string_view name, std::string_view op);

}  // namespace lowtide
