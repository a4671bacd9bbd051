// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/order/order_file.h"

#include <algorithm>
#include <array>
#include <limits>

#include "lowtide/base/json_reader.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/parse_duration.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/utf8.h"
#include "lowtide/plan/budget_problem.h"

namespace lowtide::import_internal {
namespace {

// The number of nodes is known only at the end of the file.
constexpr std::int64_t kLeastNumber = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostOutputs = 1'000'000;  // of one node
constexpr std::size_t kMostPhaseCharacters = 40;

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

class OrderReader {
 public:
  OrderReader(std::string_view text, const OrderFileOptions& options) : json_(text, ""), options_(options) {}

  [[nodiscard]] const Error& error() const { return *json_.error(); }
  [[nodiscard]] OrderFile take() && { return std::move(file_); }

  bool read() {
    // The first two are required.
    static constexpr std::array<std::string_view, 14> kKeys = {"nodes",       "edges",  "outputs", "order",  "name",
                                                               "fixed_bytes", "units",  "states",  "before", "groups",
                                                               "links",       "source", "notes",   "version"};
    return json_.read_object(kKeys, kKeys.size() - 2, [&](std::size_t key) { return read_member(kKeys[key]); }) &&
           json_.read_end();
  }

 private:
  bool read_member(std::string_view key) {
    if (key == "nodes") return json_.read_array([&] { return read_node(); });
    if (key == "edges") return json_.read_array([&] { return read_edge(file_.edges.emplace_back(), true); });
    if (key == "outputs") return json_.read_array([&] { return read_ref(file_.outputs.emplace_back()); });
    if (key == "order") {
      return json_.read_array([&] {
        return json_.read_integer("a node of the order", kLeastNumber, kMostNumber, file_.order.emplace_back());
      });
    }
    if (key == "name") return json_.read_name(file_.name);
    if (key == "fixed_bytes") {
      std::int64_t bytes = 0;
      if (!json_.read_integer("a size", 0, limits::kMaxTotalBytes, bytes)) return false;
      if (options_.with_costs) file_.fixed_bytes = bytes;
      return true;
    }
    if (key == "units") return read_units();
    if (key == "states") return json_.read_array([&] { return read_state(file_.states.emplace_back()); });
    if (key == "before") return json_.read_array([&] { return read_edge(file_.before.emplace_back(), false); });
    if (key == "groups") {
      return json_.read_array([&] {
        std::vector<OrderRef>& group = file_.groups.emplace_back();
        return json_.read_array([&] { return read_node_ref(group.emplace_back()); });
      });
    }
    if (key == "links") return json_.read_array([&] { return read_link(file_.links.emplace_back()); });
    if (key == "source") return json_.read_name(skipped_);
    std::int64_t version = 0;
    if (key == "version") return json_.read_integer("a version of this format", 1, 1, version);
    return json_.skip_value(1);  // notes
  }

  bool read_units() {
    static constexpr std::array<std::string_view, 2> kKeys = {"bytes", "cost"};
    return json_.read_object(kKeys, kKeys.size(), [&](std::size_t key) {
      if (!options_.with_units) return json_.skip_value(2);  // it is not read, so it may be anything
      if (!json_.read_name(skipped_)) return false;
      if (kKeys[key] == "cost") file_.nanoseconds_per_cost = leading_duration(skipped_);
      return true;
    });
  }

  OrderExtras& extras(std::size_t at) {
    OrderNode& node = file_.nodes[at];
    if (node.extras < 0) {
      node.extras = static_cast<std::int64_t>(file_.extras.size());
      file_.extras.emplace_back();
    }
    return file_.extras[static_cast<std::size_t>(node.extras)];
  }

  bool read_node() {
    static constexpr std::array<std::string_view, 13> kKeys = {
        "name",    "bytes",      "cost", "outputs", "scratch", "once", "seed_bytes",
        "view_of", "overwrites", "from", "module",  "source",  "phase"};
    const std::size_t at = file_.nodes.size();
    file_.nodes.emplace_back();
    const auto read = [&](std::size_t key) { return read_node_member(kKeys[key], at); };
    if (!json_.read_object(kKeys, kKeys.size(), read)) return false;
    return check_node(at);
  }

  bool read_node_member(std::string_view key, std::size_t at) {
    if (key == "name") return json_.read_name(file_.nodes[at].name);
    if (key == "bytes") return read_bytes(file_.nodes[at].bytes);
    if (key == "cost") {
      // Files for orders without a budget may have costs of any kind.
      if (!options_.with_costs) return json_.skip_value(3);
      return json_.read_integer("a cost", 0, kMaxTotalCost, file_.nodes[at].cost);
    }
    OrderExtras& more = extras(at);
    if (key == "outputs") return json_.read_array([&] { return read_output(more.outputs.emplace_back()); });
    if (key == "scratch") return read_bytes(more.scratch);
    if (key == "once") return json_.read_bool(more.runs_once);
    if (key == "seed_bytes") return read_bytes(more.seed_bytes);
    if (key == "view_of") return read_ref(more.view_of.emplace());
    if (key == "overwrites") return read_ref(more.overwrites.emplace());
    if (key == "from") return json_.read_name(more.from);
    if (key == "phase") return read_phase(more.phase);
    return json_.read_text(key == "module" ? more.module : more.source);
  }

  // It is a word in legends and terminals.
  bool read_phase(std::string& phase) {
    if (!json_.read_text(phase)) return false;
    std::size_t characters = 0;
    for (std::size_t at = 0; at < phase.size(); ++characters) {
      const std::string_view rest = std::string_view(phase).substr(at);
      const std::size_t length = utf8_length(rest);
      if (length == 0 || is_invisible_or_format_character(code_point_of(rest.substr(0, length)))) {
        return json_.fail(ErrorCode::invalid, "a phase has only characters that can be seen; found " + quoted(phase));
      }
      at += length;
    }
    return characters <= kMostPhaseCharacters ||
           json_.fail(ErrorCode::invalid, "a phase has at most " + std::to_string(kMostPhaseCharacters) +
                                              " characters, and this one has " + std::to_string(characters));
  }

  bool check_node(std::size_t at) {
    const OrderNode& node = file_.nodes[at];
    const OrderExtras* more = file_.extras_of(at);
    const bool has_outputs = more != nullptr && !more->outputs.empty();
    if (has_outputs && node.bytes >= 0) {
      return json_.fail(ErrorCode::malformed, "a node has 'bytes' and 'outputs'; give it one of the two");
    }
    if (has_outputs && more->overwrites && more->outputs[0].overwrites) {
      return json_.fail(ErrorCode::malformed,
                        "a node and its first output have 'overwrites', which is the same; give it to one of the two");
    }
    if (more != nullptr && more->view_of) {
      const bool is_plain = node.bytes <= 0 && node.cost <= 0 && !has_outputs && more->scratch == 0 &&
                            more->seed_bytes == 0 && !more->runs_once && !more->overwrites && more->from.empty();
      return is_plain || json_.fail(ErrorCode::malformed,
                                    "a node with 'view_of' names the bytes of another one; it has no bytes, cost or "
                                    "other keys of a node that runs");
    }
    if (options_.with_costs && node.cost < 0) {
      return json_.fail(ErrorCode::malformed, "a node has no 'cost', and a budget needs the cost of every node");
    }
    const bool needs_bytes = more == nullptr || (!has_outputs && !more->overwrites);
    return node.bytes >= 0 || !needs_bytes || json_.fail(ErrorCode::malformed, "a node has no 'bytes'");
  }

  bool read_bytes(std::int64_t& out) { return json_.read_integer("a size", 0, limits::kMaxTensorBytes, out); }

  bool read_output(OrderOutput& output) {
    static constexpr std::array<std::string_view, 4> kKeys = {"bytes", "same_as", "name", "overwrites"};
    const auto read = [&](std::size_t key) {
      if (key == 0) return read_bytes(output.bytes);
      if (key == 1) return json_.read_integer("an output of the node", 0, kMostOutputs, output.same_as);
      if (key == 2) return json_.read_name(output.name);
      return read_ref(output.overwrites.emplace());
    };
    if (!json_.read_object(kKeys, kKeys.size(), read)) return false;
    const bool has_own = output.bytes >= 0 || output.overwrites;
    return has_own != (output.same_as >= 0) ||
           json_.fail(ErrorCode::malformed,
                      "an output needs 'bytes', 'overwrites' or 'same_as', and nothing beside the last");
  }

  bool read_state(OrderState& state) {
    static constexpr std::array<std::string_view, 3> kKeys = {"name", "bytes", "other_names"};
    return json_.read_object(kKeys, 1, [&](std::size_t key) {
      if (key == 0) return json_.read_name(state.name);
      if (key == 1) return read_bytes(state.bytes);
      return json_.read_array([&] { return json_.read_name(state.other_names.emplace_back()); });
    });
  }

  bool read_link(OrderLink& link) {
    static constexpr std::array<std::string_view, 3> kKeys = {"name", "bytes_per_second", "latency_ns"};
    return json_.read_object(kKeys, 1, [&](std::size_t key) {
      if (key == 0) return json_.read_name(link.name);
      if (key == 1) return json_.read_integer("a rate", 1, kMostNumber, link.bytes_per_second);
      return json_.read_integer("nanoseconds", 0, kMaxTotalCost, link.latency_ns);
    });
  }

  // [from, to]. Only `from` of an edge may name an output or a state.
  bool read_edge(std::pair<OrderRef, OrderRef>& edge, bool has_output) {
    static constexpr std::array<std::string_view, 2> kColumns = {"from", "to"};
    return json_.read_row(kColumns, [&](std::size_t column) {
      if (column == 0 && has_output) return read_ref(edge.first);
      return read_node_ref(column == 0 ? edge.first : edge.second);
    });
  }

  bool read_node_ref(OrderRef& ref) {
    if (json_.peek() != '"') return json_.read_integer("a node", kLeastNumber, kMostNumber, ref.number);
    ref.is_name = true;
    ref.number = static_cast<std::int64_t>(file_.texts.size());
    return json_.read_name(file_.texts.emplace_back());
  }

  bool read_ref(OrderRef& ref) {
    if (json_.peek() != '[') return read_node_ref(ref);
    static constexpr std::array<std::string_view, 2> kColumns = {"node", "output"};
    return json_.read_row(kColumns, [&](std::size_t column) {
      if (column == 0) return read_node_ref(ref);
      if (json_.peek() == '"') {
        ref.output = -1 - static_cast<std::int32_t>(file_.texts.size());
        return json_.read_name(file_.texts.emplace_back());
      }
      std::int64_t number = 0;
      if (!json_.read_integer("an output of the node", 0, kMostOutputs, number)) return false;
      ref.output = static_cast<std::int32_t>(number);
      return true;
    });
  }

  JsonReader json_;
  OrderFileOptions options_;
  OrderFile file_;
  std::string skipped_;
};

}  // namespace

Result<OrderFile> read_order_file(std::string_view text, const OrderFileOptions& options) {
  OrderReader reader(text, options);
  if (!reader.read()) return reader.error();
  return std::move(reader).take();
}

}  // namespace lowtide::import_internal
