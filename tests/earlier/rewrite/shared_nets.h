// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/earlier/rewrite/share_net.h"
#include "tests/earlier/netdef/net_text.h"

namespace lowtide::testing {

inline SharedNet shared(const std::string& text, const ShareNetOptions& options,
                        const NetGraphOptions& sizes = {.unit_sizes = true}) {
  const ProtoMessage net = net_of_text(text);
  Result<SharedNet> answer = share_net(net, *graph_of_net(net, sizes), options);
  if (!answer) throw std::runtime_error(answer.error().describe());
  return *std::move(answer);
}

inline std::string refusal(const std::string& text, const ShareNetOptions& options) {
  const ProtoMessage net = net_of_text(text);
  const Result<SharedNet> answer = share_net(net, *graph_of_net(net, {.unit_sizes = true}), options);
  return answer.ok() ? "accepted" : answer.error().describe();
}

// x0 -> x1 -> ... -> x<ops>
inline std::string chain_text(int ops, const std::string& more) {
  std::string text = more;
  for (int at = 0; at < ops; ++at) {
    text += "op { type: 'F' input: 'x" + std::to_string(at) + "' output: 'x" + std::to_string(at + 1) + "' }\n";
  }
  return text + "external_input: 'x0' external_output: 'x" + std::to_string(ops) + "'";
}

inline std::vector<std::string> freed_in(const ProtoMessage& net) {
  std::vector<std::string> names;
  for (const ProtoMessage* op : messages_of(net, 2)) {
    if (find_text(*op, 4) == "Free") names.emplace_back(find_text(*op, 1).value_or(""));
  }
  return names;
}

}  // namespace lowtide::testing
