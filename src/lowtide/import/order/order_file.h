// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/imported.h"

namespace lowtide::import_internal {

// How a file names a node, one of its outputs, or a state: 3, "name", [3, 1], ["name", "output"].
struct OrderRef {
  std::int64_t number = 0;  // of the node; if `is_name`, an index into OrderFile::texts
  std::int32_t output = 0;  // of the node; if negative, the name is texts[-1 - output]
  bool is_name = false;
};

// An output of a node, or another name of an output.
struct OrderOutput {
  std::string name;
  std::int64_t bytes = -1;
  std::int64_t same_as = -1;  // number of an output of the node
  std::optional<OrderRef> overwrites = std::nullopt;
};

// What only few nodes have.
struct OrderExtras {
  std::vector<OrderOutput> outputs;
  std::int64_t scratch = 0;
  std::int64_t seed_bytes = 0;
  bool runs_once = false;
  std::optional<OrderRef> view_of;
  std::optional<OrderRef> overwrites;  // by the first output
  std::string from;                    // name of a link
  std::string module;
  std::string source;
  std::string phase;
};

struct OrderNode {
  std::string name;
  std::int64_t bytes = -1;
  std::int64_t cost = -1;
  std::int64_t extras = -1;  // index into OrderFile::extras, or -1
};

struct OrderState {
  std::string name;
  std::vector<std::string> other_names;
  std::int64_t bytes = -1;
};

struct OrderLink {
  std::string name;
  std::int64_t bytes_per_second = 0;
  std::int64_t latency_ns = 0;
};

// The content of a file, as it is there.
struct OrderFile {
  std::vector<OrderNode> nodes;
  std::vector<OrderExtras> extras;
  std::vector<std::pair<OrderRef, OrderRef>> edges;
  std::vector<OrderRef> outputs;
  std::vector<std::int64_t> order;
  std::vector<OrderState> states;
  std::vector<std::pair<OrderRef, OrderRef>> before;
  std::vector<std::vector<OrderRef>> groups;
  std::vector<OrderLink> links;
  std::vector<std::string> texts;
  std::string name;
  std::int64_t fixed_bytes = 0;
  std::optional<std::int64_t> nanoseconds_per_cost;

  [[nodiscard]] const OrderExtras* extras_of(std::size_t node) const {
    return nodes[node].extras < 0 ? nullptr : &extras[static_cast<std::size_t>(nodes[node].extras)];
  }
  // Whether it has anything that a plain graph of nodes with one output has not.
  [[nodiscard]] bool has_steps() const {
    return !extras.empty() || !states.empty() || !before.empty() || !groups.empty() || !links.empty();
  }
};

// Reads the text of a file. Unknown keys are refused with their place. Errors: malformed; invalid; over_limit.
[[nodiscard]] Result<OrderFile> read_order_file(std::string_view text, const OrderFileOptions& options);

}  // namespace lowtide::import_internal
