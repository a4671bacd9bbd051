// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/order_json.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/json_reader.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/parse_duration.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide {
namespace import_internal {
namespace {

// The number of nodes is known only at the end of the file.
constexpr std::int64_t kLeastNumber = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();

struct Entry {
  std::string name;
  std::int64_t bytes = -1;
  std::int64_t cost = -1;
};

struct OrderFile {
  std::vector<Entry> nodes;
  std::vector<std::pair<std::int64_t, std::int64_t>> edges;
  std::vector<std::int64_t> outputs;
  std::vector<std::int64_t> order;
  bool has_nodes = false;
  bool has_edges = false;
  std::string name;
  std::int64_t fixed_bytes = 0;
  std::optional<std::int64_t> nanoseconds_per_cost;
};

// The time at the begin of a text such as "0.01 ms on a P100"; nullopt if there is none above 0.
std::optional<std::int64_t> leading_duration(std::string_view text) {
  const std::size_t first = text.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : text.find(' ', first + 1);
  for (std::size_t end : {second, first}) {
    const std::optional<std::int64_t> time = parse_duration(text.substr(0, end));
    if (time && *time > 0) return time;
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(std::string_view text, const OrderFileOptions& options) : json_(text, ""), options_(options) {}

  [[nodiscard]] const std::optional<Error>& error() const { return json_.error(); }

  bool read(OrderFile& file) {
    return json_.read_any_object([&](const std::string& key) { return read_member(key, file); }) && json_.read_end();
  }

 private:
  bool read_member(const std::string& key, OrderFile& file) {
    const bool is_known = std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
    if (is_known && !seen_.insert(key).second) return json_.fail(ErrorCode::malformed, "'" + key + "' appears twice");
    if (key == "name") return json_.read_name(file.name);
    if (key == "nodes") {
      file.has_nodes = true;
      return json_.read_member("nodes",
                               [&] { return json_.read_array([&] { return read_node(file.nodes.emplace_back()); }); });
    }
    if (key == "edges") {
      file.has_edges = true;
      return json_.read_member("edges",
                               [&] { return json_.read_array([&] { return read_edge(file.edges.emplace_back()); }); });
    }
    if (key == "outputs") {
      return json_.read_member("outputs", [&] { return read_indices("an output", file.outputs); });
    }
    if (key == "order") {
      return json_.read_member("order", [&] { return read_indices("a node of the order", file.order); });
    }
    if (key == "fixed_bytes" && options_.with_costs) {
      return json_.read_member(
          "fixed_bytes", [&] { return json_.read_integer("a size", 0, limits::kMaxTotalBytes, file.fixed_bytes); });
    }
    if (key == "units" && options_.with_units) {
      return json_.read_member("units", [&] { return read_units(file.nanoseconds_per_cost); });
    }
    return json_.skip_value(1);
  }

  bool read_units(std::optional<std::int64_t>& nanoseconds) {
    return json_.read_any_object([&](const std::string& key) {
      if (key != "cost") return json_.skip_value(2);
      std::string text;
      if (!json_.read_member("cost", [&] { return json_.read_name(text); })) return false;
      nanoseconds = leading_duration(text);
      return true;
    });
  }

  bool read_node(Entry& node) {
    std::set<std::string_view> seen;
    const auto read_one = [&](const std::string& key) {
      const std::string_view* known = std::find(kNodeKeys.begin(), kNodeKeys.end(), key);
      if (known != kNodeKeys.end() && !seen.insert(*known).second)
        return json_.fail(ErrorCode::malformed, "'" + key + "' appears twice in a node");
      if (key == "name") return json_.read_name(node.name);
      if (key == "bytes") {
        return json_.read_member("bytes",
                                 [&] { return json_.read_integer("a size", 0, limits::kMaxTensorBytes, node.bytes); });
      }
      if (key == "cost" && options_.with_costs) {
        return json_.read_member("cost", [&] { return json_.read_integer("a cost", 0, kMaxTotalCost, node.cost); });
      }
      return json_.skip_value(3);
    };
    if (!json_.read_any_object(read_one)) return false;
    if (options_.with_costs && node.cost < 0) {
      return json_.fail(ErrorCode::malformed, "a node has no 'cost', and a budget needs the cost of every node");
    }
    return node.bytes >= 0 || json_.fail(ErrorCode::malformed, "a node has no 'bytes'");
  }

  bool read_edge(std::pair<std::int64_t, std::int64_t>& edge) {
    constexpr std::string_view kColumns[] = {"from", "to"};
    return json_.read_row(kColumns, [&](std::size_t column) {
      return json_.read_integer("a node", kLeastNumber, kMostNumber, column == 0 ? edge.first : edge.second);
    });
  }

  bool read_indices(std::string_view what, std::vector<std::int64_t>& out) {
    out.clear();
    return json_.read_array([&] { return json_.read_integer(what, kLeastNumber, kMostNumber, out.emplace_back()); });
  }

  static constexpr std::array<std::string_view, 7> kKeys = {"name",  "nodes",       "edges", "outputs",
                                                            "order", "fixed_bytes", "units"};
  static constexpr std::array<std::string_view, 3> kNodeKeys = {"name", "bytes", "cost"};

  JsonReader json_;
  OrderFileOptions options_;
  std::set<std::string> seen_;  // the keys of kKeys that were read
};

Error invalid_order(std::string message) { return {ErrorCode::invalid, std::move(message), ""}; }

// A node without a name has its number as its name.
std::string name_of(const OrderFile& file, std::size_t node) {
  return file.nodes[node].name.empty() ? std::to_string(node) : file.nodes[node].name;
}

Result<void> check_names(const OrderFile& file) {
  std::vector<std::pair<std::string, std::size_t>> names;
  for (std::size_t node = 0; node < file.nodes.size(); ++node) names.emplace_back(name_of(file, node), node);
  std::sort(names.begin(), names.end());
  const auto same =
      std::adjacent_find(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (same == names.end()) return {};
  return invalid_order("nodes " + std::to_string(same->second) + " and " + std::to_string(std::next(same)->second) +
                       " are both named " + quoted(same->first) + "; give them different names or omit 'name'");
}

Result<void> check_costs(const OrderFile& file) {
  std::int64_t sum = 0;
  for (const Entry& node : file.nodes) {
    sum += node.cost;
    if (sum <= kMaxTotalCost) continue;
    return Error{ErrorCode::over_limit,
                 "all costs together exceed 2^50 - 1 (kMaxTotalCost); give them in a larger unit of time", ""};
  }
  return {};
}

Result<void> check(const OrderFile& file) {
  if (!file.has_nodes || !file.has_edges) {
    return Error{
        ErrorCode::malformed,
        std::string("'") + (file.has_nodes ? "edges" : "nodes") +
            "' is missing; an ordering problem has 'nodes' with their 'bytes', and 'edges' as pairs of node numbers",
        ""};
  }
  LOWTIDE_RETURN_IF_ERROR(check_names(file));
  const auto count = static_cast<std::int64_t>(file.nodes.size());
  const auto is_missing = [&](std::int64_t node) { return node < 0 || node >= count; };
  const auto wrong = [&](const std::string& what, std::int64_t node) {
    return invalid_order(what + " is node " + std::to_string(node) + ", but the file has " +
                         with_count(file.nodes.size(), "node") + ", counted from 0");
  };
  for (std::size_t at = 0; at < file.edges.size(); ++at) {
    const auto& [from, to] = file.edges[at];
    const std::string edge = "edge " + std::to_string(at);
    if (is_missing(from)) return wrong("the start of " + edge, from);
    if (is_missing(to)) return wrong("the end of " + edge, to);
    if (from == to) return invalid_order(edge + " goes from node " + std::to_string(from) + " to itself");
  }
  for (std::int64_t output : file.outputs) {
    if (is_missing(output)) return wrong("one of the outputs", output);
  }
  if (file.order.empty()) return {};
  Flags<std::size_t> is_there(file.nodes.size());
  for (std::int64_t node : file.order) {
    if (is_missing(node)) return wrong("one node of 'order'", node);
    if (!is_there.insert(static_cast<std::size_t>(node))) {
      return invalid_order("'order' has node " + std::to_string(node) + " twice; list each node once");
    }
  }
  if (file.order.size() != file.nodes.size()) {
    return invalid_order("'order' has " + std::to_string(file.order.size()) + " of " + std::to_string(count) +
                         " nodes; omit it, or list each node once");
  }
  return {};
}

TensorId tensor_of(std::int64_t node) { return TensorId(static_cast<std::uint32_t>(node)); }

Result<ImportedOrderGraph> make(const OrderFile& file, const OrderFileOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(check(file));
  if (options.with_costs) LOWTIDE_RETURN_IF_ERROR(check_costs(file));
  std::vector<std::int64_t> order = file.order;
  if (order.empty()) {
    order.resize(file.nodes.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
  }
  std::vector<std::vector<std::optional<TensorId>>> reads(file.nodes.size());
  for (const auto& [from, to] : file.edges) reads[static_cast<std::size_t>(to)].emplace_back(tensor_of(from));

  GraphBuilder builder(file.name);
  for (std::size_t at = 0; at < file.nodes.size(); ++at) {
    const Entry& node = file.nodes[at];
    builder.add_tensor({.name = name_of(file, at), .dtype = DType::u8, .shape = Shape({node.bytes})});
  }
  for (std::int64_t node : order) {
    const auto at = static_cast<std::size_t>(node);
    std::sort(reads[at].begin(), reads[at].end());
    reads[at].erase(std::unique(reads[at].begin(), reads[at].end()), reads[at].end());
    builder.add_node({.name = name_of(file, at),
                      .domain = std::string(kOwnDomain),
                      .type = "Node",
                      .inputs = std::move(reads[at]),
                      .outputs = {tensor_of(node)}});
  }
  std::vector<TensorId> outputs;
  for (std::int64_t output : file.outputs) outputs.push_back(tensor_of(output));
  builder.set_outputs(std::move(outputs));
  Result<Graph> graph = std::move(builder).build();
  if (!graph) return graph.error();

  ImportedOrderGraph imported{.graph = *std::move(graph), .index = {}, .notes = {}};
  imported.index.resize(order.size());
  imported.costs.resize(options.with_costs ? order.size() : 0);
  imported.fixed_bytes = Bytes(file.fixed_bytes);
  imported.nanoseconds_per_cost = file.nanoseconds_per_cost;
  bool is_sorted = true;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const NodeId node = *imported.graph.tensor(tensor_of(order[at])).producer;
    imported.index[node] = order[at];
    if (options.with_costs) imported.costs[node] = file.nodes[static_cast<std::size_t>(order[at])].cost;
    is_sorted = is_sorted && node.index() == at;
  }
  if (!is_sorted) {
    imported.notes.push_back(std::string(file.order.empty() ? "nodes" : "nodes of 'order'") +
                             " came before the nodes that they read, so all were sorted");
  }
  return imported;
}

}  // namespace
}  // namespace import_internal

Result<ImportedOrderGraph> parse_order_graph(std::string_view text, const OrderFileOptions& options) {
  import_internal::Reader reader(text, options);
  import_internal::OrderFile file;
  if (!reader.read(file)) return *reader.error();
  return import_internal::make(file, options);
}

}  // namespace lowtide
