// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/order/order_file.h"

namespace lowtide::import_internal {

// What a reference of a file means.
struct OrderTarget {
  bool is_state = false;
  std::size_t at = 0;      // number of the node or the state
  std::size_t output = 0;  // of the node: the output that has the bytes, after `same_as`
};

// Finds nodes, outputs and states by number and by name.
class OrderNames {
 public:
  explicit OrderNames(const OrderFile& file) : file_(file) {}

  // Refuses names that are used twice, also within the outputs of one node. Must be called first.
  Result<void> check();

  // A node without a name has its number as its name.
  [[nodiscard]] std::string name_of(std::size_t node) const;
  // `what` begins the message of an error: "the start of edge 3".
  [[nodiscard]] Result<OrderTarget> find(const OrderRef& ref, const std::string& what) const;
  // The same, but a state or another output than the first is refused.
  [[nodiscard]] Result<std::size_t> find_node(const OrderRef& ref, const std::string& what) const;

 private:
  [[nodiscard]] Result<OrderTarget> find_named(const std::string& name, const std::string& what) const;
  void sort_output_names();
  [[nodiscard]] Result<void> check_output_names() const;
  // The output of a node with this name, or nullopt if there is none. O(log outputs).
  [[nodiscard]] std::optional<std::size_t> find_named_output(std::size_t node, const std::string& name) const;
  [[nodiscard]] Result<std::size_t> find_output(const OrderRef& ref, std::size_t node, const std::string& what) const;

  const OrderFile& file_;
  std::vector<std::pair<std::string, OrderTarget>> names_;  // ascending, of nodes and states
  // Node, and number of an output with a name. Ascending by node and name.
  std::vector<std::pair<std::size_t, std::size_t>> output_names_;
};

[[nodiscard]] Error invalid_order(std::string message);

}  // namespace lowtide::import_internal
