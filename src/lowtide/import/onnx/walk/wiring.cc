// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/walk/wiring.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_set>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/import/onnx/proto/text.h"

namespace lowtide::import_internal {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;

class WiringMaker {
 public:
  WiringMaker(const GraphProto& graph, FreeNames& free_names) : graph_(graph), free_names_(free_names) {}

  Result<Wiring> make() {
    const auto nodes = static_cast<std::size_t>(graph_.node_size());
    wiring_.index_of.reserve(nodes + static_cast<std::size_t>(graph_.initializer_size() + graph_.input_size()));
    LOWTIDE_RETURN_IF_ERROR(define_inputs());
    LOWTIDE_RETURN_IF_ERROR(define_initializers());
    for (int at = 0; at < graph_.node_size(); ++at) LOWTIDE_RETURN_IF_ERROR(add_node(static_cast<std::uint32_t>(at)));
    for (const auto& output : graph_.output()) {
      if (output.name().empty()) return refuse("an output of the graph has no name");
      LOWTIDE_TRY(const std::uint32_t name, name_of(output.name()));
      ++wiring_.names[name].reads;
    }
    LOWTIDE_RETURN_IF_ERROR(sort());
    return std::move(wiring_);
  }

 private:
  [[nodiscard]] Error refuse(const std::string& message) const {
    return Error{ErrorCode::invalid, message, place_of_graph(graph_.name())};
  }

  [[nodiscard]] std::string shown_node(std::uint32_t node) const {
    return "node " + std::to_string(node) + " " + quoted(graph_.node(static_cast<int>(node)).name());
  }

  Result<std::uint32_t> name_of(std::string_view text) {
    if (static_cast<std::int64_t>(text.size()) > limits::kMaxNameBytes) {
      return Error{ErrorCode::over_limit,
                   "the name " + quoted(text) + " is longer than the limit of " +
                       std::to_string(limits::kMaxNameBytes) + " bytes (kMaxNameBytes)",
                   place_of_graph(graph_.name())};
    }
    const auto [entry, is_new] = wiring_.index_of.try_emplace(text, static_cast<std::uint32_t>(wiring_.names.size()));
    if (is_new) {
      wiring_.names.push_back({});
      wiring_.names.back().text = text;
    }
    return entry->second;
  }

  Result<void> define(const std::string& text, Source source, std::uint32_t index) {
    if (text.empty()) {
      return refuse(std::string(source == Source::input ? "an input" : "an initializer") + " of the graph has no name");
    }
    LOWTIDE_TRY(const std::uint32_t id, name_of(text));
    Wiring::Name& name = wiring_.names[id];
    const bool is_default_value =
        name.source == Source::input && (source == Source::initializer || source == Source::sparse_initializer);
    if (name.source != Source::outside && !is_default_value) {
      return refuse("the name " + quoted(text) + " is produced twice: by " + shown_source(name) + " and " +
                    shown_source({text, source, index, 0}));
    }
    name.source = source;
    name.index = index;
    return {};
  }

  [[nodiscard]] std::string shown_source(const Wiring::Name& name) const {
    switch (name.source) {
      case Source::input: return "input " + std::to_string(name.index);
      case Source::initializer: return "initializer " + std::to_string(name.index);
      case Source::sparse_initializer: return "sparse initializer " + std::to_string(name.index);
      case Source::node: return "an output of " + shown_node(name.index);
      case Source::outside: break;
    }
    return "nothing";
  }

  Result<void> define_inputs() {
    for (int at = 0; at < graph_.input_size(); ++at) {
      LOWTIDE_RETURN_IF_ERROR(define(graph_.input(at).name(), Source::input, static_cast<std::uint32_t>(at)));
    }
    return {};
  }

  Result<void> define_initializers() {
    for (int at = 0; at < graph_.initializer_size(); ++at) {
      LOWTIDE_RETURN_IF_ERROR(
          define(graph_.initializer(at).name(), Source::initializer, static_cast<std::uint32_t>(at)));
    }
    for (int at = 0; at < graph_.sparse_initializer_size(); ++at) {
      const std::string& name = graph_.sparse_initializer(at).values().name();
      LOWTIDE_RETURN_IF_ERROR(define(name, Source::sparse_initializer, static_cast<std::uint32_t>(at)));
    }
    return {};
  }

  Result<void> add_node(std::uint32_t at) {
    const NodeProto& node = graph_.node(static_cast<int>(at));
    if (static_cast<std::int64_t>(node.name().size()) > limits::kMaxNameBytes) {
      return Error{
          ErrorCode::over_limit,
          "the name is longer than the limit of " + std::to_string(limits::kMaxNameBytes) + " bytes (kMaxNameBytes)",
          place_of_node(graph_.name(), at, node)};
    }
    wiring_.input_begin_.push_back(pool_size());
    for (const std::string& input : node.input()) LOWTIDE_RETURN_IF_ERROR(add_read(input));
    wiring_.input_end_.push_back(pool_size());
    LOWTIDE_RETURN_IF_ERROR(add_captures(node));
    wiring_.pool_end_.push_back(pool_size());
    for (const std::string& output : node.output()) {
      if (output.empty()) {
        wiring_.pool_.push_back(Wiring::kLeftOut);
        continue;
      }
      LOWTIDE_RETURN_IF_ERROR(define(output, Source::node, at));
      wiring_.pool_.push_back(wiring_.index_of.at(output));
    }
    wiring_.output_end_.push_back(pool_size());
    return {};
  }

  Result<void> add_read(std::string_view text) {
    if (text.empty()) {
      wiring_.pool_.push_back(Wiring::kLeftOut);
      return {};
    }
    LOWTIDE_TRY(const std::uint32_t name, name_of(text));
    ++wiring_.names[name].reads;
    wiring_.pool_.push_back(name);
    return {};
  }

  // All bodies of the node together read a name once.
  Result<void> add_captures(const NodeProto& node) {
    std::vector<std::string_view> captured;
    const auto capture = [&](const GraphProto& body) {
      const std::vector<std::string_view>& names = free_names_.of(body);
      captured.insert(captured.end(), names.begin(), names.end());
    };
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) capture(attribute.g());
      for (const GraphProto& body : attribute.graphs()) capture(body);
    }
    std::sort(captured.begin(), captured.end());
    captured.erase(std::unique(captured.begin(), captured.end()), captured.end());
    for (std::string_view name : captured) LOWTIDE_RETURN_IF_ERROR(add_read(name));
    return {};
  }

  [[nodiscard]] std::uint32_t pool_size() const { return static_cast<std::uint32_t>(wiring_.pool_.size()); }

  // Calls `visit` with the producing node of each name that the node reads.
  template <typename Visit>
  void for_each_maker(std::uint32_t node, Visit visit) const {
    const auto reads = wiring_.slice(wiring_.input_begin_, wiring_.pool_end_, node);
    for (std::uint32_t read : reads) {
      if (read != Wiring::kLeftOut && wiring_.names[read].source == Source::node) visit(wiring_.names[read].index);
    }
  }

  Result<void> sort() {
    const auto count = static_cast<std::uint32_t>(graph_.node_size());
    for (std::uint32_t node = 0; node < count && wiring_.was_sorted; ++node) {
      for_each_maker(node, [&](std::uint32_t maker) { wiring_.was_sorted = wiring_.was_sorted && maker < node; });
    }
    wiring_.order.resize(count);
    for (std::uint32_t node = 0; node < count; ++node) wiring_.order[node] = node;
    if (wiring_.was_sorted) return {};
    return sort_by_makers(count);
  }

  // Kahn's algorithm. Among the ready nodes, the first in the file comes next.
  Result<void> sort_by_makers(std::uint32_t count) {
    std::vector<std::uint32_t> begin(count + 1, 0);
    std::vector<std::uint32_t> waiting(count, 0);
    for (std::uint32_t node = 0; node < count; ++node) {
      for_each_maker(node, [&](std::uint32_t maker) {
        ++begin[maker + 1];
        ++waiting[node];
      });
    }
    for (std::uint32_t node = 0; node < count; ++node) begin[node + 1] += begin[node];
    std::vector<std::uint32_t> readers(begin[count]);
    std::vector<std::uint32_t> fill = begin;
    for (std::uint32_t node = 0; node < count; ++node) {
      for_each_maker(node, [&](std::uint32_t maker) { readers[fill[maker]++] = node; });
    }
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t node = 0; node < count; ++node) {
      if (waiting[node] == 0) ready.push(node);
    }
    wiring_.order.clear();
    while (!ready.empty()) {
      const std::uint32_t node = ready.top();
      ready.pop();
      wiring_.order.push_back(node);
      for (std::uint32_t at = begin[node]; at < begin[node + 1]; ++at) {
        if (--waiting[readers[at]] == 0) ready.push(readers[at]);
      }
    }
    if (wiring_.order.size() == count) return {};
    return cycle(waiting);
  }

  // Walks back from a node that never became ready, over producers that never became ready, until a node repeats.
  [[nodiscard]] Error cycle(const std::vector<std::uint32_t>& waiting) const {
    const auto stuck = [&](std::uint32_t node) { return waiting[node] > 0; };
    std::uint32_t node = 0;
    while (!stuck(node)) ++node;
    std::vector<std::uint32_t> seen_at(waiting.size(), 0);
    std::uint32_t steps = 0;
    while (seen_at[node] == 0) {
      seen_at[node] = ++steps;
      std::optional<std::uint32_t> back;
      for_each_maker(node, [&](std::uint32_t maker) {
        if (!back && stuck(maker)) back = maker;
      });
      LOWTIDE_CHECK(back.has_value(), "a node that is not ready waits for another one");
      node = *back;
    }
    const std::uint32_t length = steps - seen_at[node] + 1;
    return Error{ErrorCode::invalid,
                 "the node depends on its own output, through a cycle of " + with_count(length, "node"),
                 place_of_node(graph_.name(), node, graph_.node(static_cast<int>(node)))};
  }

  const GraphProto& graph_;
  FreeNames& free_names_;
  Wiring wiring_;
};

std::optional<std::uint32_t> Wiring::find(std::string_view name) const {
  const auto found = index_of.find(name);
  return found == index_of.end() ? std::nullopt : std::optional<std::uint32_t>(found->second);
}

Result<Wiring> Wiring::make(const GraphProto& graph, FreeNames& free_names) {
  return WiringMaker(graph, free_names).make();
}

const std::vector<std::string_view>& FreeNames::of(const GraphProto& body) {
  if (const auto known = known_.find(&body); known != known_.end()) return known->second;
  std::unordered_set<std::string_view> seen = {""};  // produced here, or already in the list
  for (const auto& input : body.input()) seen.insert(input.name());
  for (const auto& tensor : body.initializer()) seen.insert(tensor.name());
  for (const auto& tensor : body.sparse_initializer()) seen.insert(tensor.values().name());
  for (const NodeProto& node : body.node()) seen.insert(node.output().begin(), node.output().end());

  std::vector<std::string_view> names;
  const auto read = [&](std::string_view name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  for (const NodeProto& node : body.node()) {
    for (const std::string& input : node.input()) read(input);
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) std::for_each(of(attribute.g()).begin(), of(attribute.g()).end(), read);
      for (const GraphProto& inner : attribute.graphs()) std::for_each(of(inner).begin(), of(inner).end(), read);
    }
  }
  for (const auto& output : body.output()) read(output.name());
  return known_.emplace(&body, std::move(names)).first->second;
}

}  // namespace lowtide::import_internal
