// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan_check.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"

namespace lowtide::detail {
namespace {

std::string numbered(const char* table, std::size_t index) {
  return "." + std::string(table) + "[" + std::to_string(index) + "]";
}

// One plan with the labels that its ids count in. Keeps the first offence.
class PlanCheck {
 public:
  PlanCheck(const Plan& plan, const Labels& labels, std::string place, std::int64_t& total)
      : plan_(plan), labels_(labels), place_(std::move(place)), total_(total) {}

  Result<void> check() {
    if (plan_.arena.size() != plan_.regions.size()) {
      refuse(".arena", "has " + std::to_string(plan_.arena.size()) + " entries for " +
                           std::to_string(plan_.regions.size()) + " regions; there is one for each");
    }
    for (std::size_t at = 0; at < plan_.regions.size(); ++at) {
      const std::int64_t alignment = plan_.regions[at].alignment.count();
      if (!is_power_of_two(alignment)) {
        refuse(numbered("regions", at) + ".alignment", std::to_string(alignment) + " is not a power of two");
      }
    }
    for (std::size_t at = 0; at < plan_.arena.size(); ++at) add_to_total(plan_.arena[at], "arena", at, "");
    check_buffers();
    check_values();
    check_steps();
    if (error_) return *error_;
    return {};
  }

 private:
  void refuse(const std::string& path, std::string message) {
    if (!error_) error_ = Error{ErrorCode::invalid, std::move(message), place_ + path};
  }

  // Ids of one kind count entries of one table.
  void check_id(std::uint32_t id, std::size_t count, const char* what, const char* table, std::size_t row,
                const std::string& column) {
    if (id < count) return;
    refuse(numbered(table, row) + column,
           std::string(what) + " " + std::to_string(id) + " does not exist: there are " + std::to_string(count));
  }

  void add_to_total(Bytes bytes, const char* table, std::size_t row, const char* column) {
    if (error_) return;
    total_ += bytes.count();  // both at most limits::kMaxTotalBytes, which is below 2^62
    if (total_ > limits::kMaxTotalBytes) {
      refuse(numbered(table, row) + column, "the sizes up to here add up to more than the limit of " +
                                                std::to_string(limits::kMaxTotalBytes) + " bytes (kMaxTotalBytes)");
    }
  }

  void check_buffers() {
    const std::size_t steps = plan_.program.size();
    for (std::size_t row = 0; row < plan_.buffers.size() && !error_; ++row) {
      const Buffer& buffer = plan_.buffers[BufferId(static_cast<std::uint32_t>(row))];
      add_to_total(buffer.size, "buffers", row, ".bytes");
      // A program without steps has buffers all the same, all of [0, 0).
      const bool may_be_empty = steps == 0 && buffer.lifespan == Lifespan{};
      if (buffer.lifespan.empty() && !may_be_empty) {
        refuse(numbered("buffers", row), "lives from step " + std::to_string(buffer.lifespan.begin.value()) +
                                             " to before step " + std::to_string(buffer.lifespan.end.value()) +
                                             ", which is no step at all");
      }
      if (buffer.lifespan.end.value() > steps) {
        refuse(numbered("buffers", row) + ".end", "step " + std::to_string(buffer.lifespan.end.value()) +
                                                      " is behind the end of the program of " + std::to_string(steps) +
                                                      " steps");
      }
      if (!buffer.parts.empty()) check_parts(row, buffer);
      if (buffer.placement) {
        check_id(buffer.placement->region.value(), plan_.regions.size(), "region", "buffers", row, ".region");
      }
    }
  }

  void check_parts(std::size_t row, const Buffer& buffer) {
    const std::string path = numbered("buffers", row) + ".parts";
    if (buffer.parts.size() == 1) refuse(path, "has one part; a buffer has none, or at least two");
    if (!buffer.placement) refuse(path, "are of a buffer that has no place; only placed ones have parts");
    Bytes size;
    Lifespan whole = buffer.parts.front().lifespan;
    for (std::size_t at = 0; at < buffer.parts.size() && !error_; ++at) {
      const BufferPart& part = buffer.parts[at];
      if (part.lifespan.empty()) refuse(path + "[" + std::to_string(at) + "]", "lives in no step at all");
      if (part.size > buffer.size - size) {
        refuse(path + "[" + std::to_string(at) + "]",
               "ends behind the end of the buffer, which has " + std::to_string(buffer.size.count()) + " bytes");
        return;
      }
      size += part.size;
      whole = {std::min(whole.begin, part.lifespan.begin), std::max(whole.end, part.lifespan.end)};
    }
    if (size != buffer.size) {
      refuse(path, "have " + std::to_string(size.count()) + " bytes together, the buffer has " +
                       std::to_string(buffer.size.count()));
    }
    if (whole != buffer.lifespan) {
      refuse(path, "live from step " + std::to_string(whole.begin.value()) + " to before step " +
                       std::to_string(whole.end.value()) + " together, which is not when the buffer lives");
    }
  }

  void check_values() {
    for (std::size_t row = 0; row < plan_.values.size() && !error_; ++row) {
      const Value& value = plan_.values[ValueId(static_cast<std::uint32_t>(row))];
      check_id(value.tensor.value(), labels_.tensors.size(), "tensor", "values", row, ".tensor");
      if (value.written) check_id(value.written->value(), plan_.program.size(), "step", "values", row, ".written");
      check_id(value.buffer.value(), plan_.buffers.size(), "buffer", "values", row, ".buffer");
    }
  }

  void check_steps() {
    const std::size_t values = plan_.values.size();
    for (std::size_t row = 0; row < plan_.program.size() && !error_; ++row) {
      const Step& step = plan_.program[StepId(static_cast<std::uint32_t>(row))];
      check_id(step.node.value(), labels_.nodes.size(), "node", "steps", row, ".node");
      for (std::size_t at = 0; at < step.reads.size(); ++at) {
        if (step.reads[at].index() >= values)
          check_id(step.reads[at].value(), values, "value", "steps", row, numbered("reads", at));
      }
      for (std::size_t at = 0; at < step.writes.size(); ++at) {
        if (step.writes[at].index() >= values)
          check_id(step.writes[at].value(), values, "value", "steps", row, numbered("writes", at));
      }
      if (step.stream >= plan_.streams) {
        check_id(step.stream, plan_.streams, "stream", "steps", row, ".stream");
      }
      for (std::size_t at = 0; at < step.after.size(); ++at) {
        if (step.after[at].index() >= row) refuse_wait(row, at);
      }
      if (step.scratch) check_id(step.scratch->value(), plan_.buffers.size(), "buffer", "steps", row, ".scratch");
    }
  }

  void refuse_wait(std::size_t row, std::size_t at) {
    refuse(numbered("steps", row) + numbered("after", at),
           "step " + std::to_string(plan_.program[StepId(static_cast<std::uint32_t>(row))].after[at].value()) +
               " does not come before this step, " + std::to_string(row) + ", so it cannot be waited for");
  }

  const Plan& plan_;
  const Labels& labels_;
  const std::string place_;
  std::int64_t& total_;
  std::optional<Error> error_;
};

// Of a parent in a list whose entry 0 is the root.
std::size_t index_of(std::optional<std::uint32_t> parent) { return parent ? std::size_t{*parent} + 1 : 0; }

// A parent stands before its bodies, so following parents ends, and depths are known in one pass.
template <typename Entry>
Result<std::vector<int>> check_parents(const std::vector<Entry>& entries, const std::string& place) {
  std::vector<int> depth(entries.size(), 0);
  for (std::size_t at = 1; at < entries.size(); ++at) {
    const std::size_t parent = index_of(entries[at].parent);
    const std::string entry = place + "[" + std::to_string(at - 1) + "]";
    if (parent >= at) {
      return Error{ErrorCode::invalid,
                   "the parent " + std::to_string(parent - 1) + " does not stand before its body, which is entry " +
                       std::to_string(at - 1),
                   entry + ".parent"};
    }
    depth[at] = depth[parent] + 1;
    if (depth[at] > limits::kMaxBodyNesting) {
      return Error{ErrorCode::over_limit,
                   "bodies are nested deeper than the limit of " + std::to_string(limits::kMaxBodyNesting) +
                       " (kMaxBodyNesting)",
                   entry};
    }
  }
  return depth;
}

// The bodies of one graph come in the order of its nodes.
Result<void> check_labels(const std::vector<ReadLabels>& labels, const std::string& place) {
  const Result<std::vector<int>> depth = check_parents(labels, place);
  if (!depth) return depth.error();
  std::vector<NodeId> last(labels.size());
  for (std::size_t at = 1; at < labels.size(); ++at) {
    const std::size_t parent = index_of(labels[at].parent);
    const std::string node_place = place + "[" + std::to_string(at - 1) + "].node";
    const std::size_t nodes = labels[parent].labels.nodes.size();
    const std::string node = "node " + std::to_string(labels[at].node.value());
    if (labels[at].node.index() >= nodes) {
      return Error{ErrorCode::invalid, node + " does not exist: there are " + std::to_string(nodes), node_place};
    }
    if (labels[at].node < last[parent]) {
      return Error{ErrorCode::invalid,
                   node + " comes after node " + std::to_string(last[parent].value()) +
                       "; bodies come in the order of their nodes",
                   node_place};
    }
    last[parent] = labels[at].node;
  }
  return {};
}

// Bodies of each node and of each step, by position among all bodies of one parent.
class BodyMatch {
 public:
  explicit BodyMatch(const ReadFile& file)
      : file_(file), bodies_(file.labels.size()), labels_of_(file.plans.size(), 0), used_(file.plans.size()) {
    for (std::size_t at = 1; at < file.labels.size(); ++at) {
      const ReadLabels& entry = file.labels[at];
      bodies_[index_of(entry.parent)].emplace_back(entry.node, at);
    }
  }

  // The labels of plan `at`; its parent has been matched before.
  Result<std::size_t> match(std::size_t at, const std::string& place) {
    const ReadPlan& entry = file_.plans[at];
    const std::size_t parent = index_of(entry.parent);
    const Plan& around = file_.plans[parent].plan;
    if (!around.program.contains(entry.step)) {
      return Error{ErrorCode::invalid,
                   "step " + std::to_string(entry.step.value()) + " does not exist: there are " +
                       std::to_string(around.program.size()),
                   place + ".step"};
    }
    std::vector<std::uint32_t>& used = used_[parent];
    used.resize(around.program.size());
    const NodeId node = around.program[entry.step].node;
    const auto& list = bodies_[labels_of_[parent]];
    const auto first = std::lower_bound(list.begin(), list.end(), node,
                                        [](const auto& body, NodeId wanted) { return body.first < wanted; });
    const std::size_t position = used[entry.step.index()]++;
    const bool is_there = position < static_cast<std::size_t>(list.end() - first) &&
                          (first + static_cast<std::ptrdiff_t>(position))->first == node;
    const std::size_t labels = is_there ? (first + static_cast<std::ptrdiff_t>(position))->second : 0;
    if (!is_there || file_.labels[labels].body != entry.body) {
      return Error{ErrorCode::invalid,
                   "body " + std::to_string(position) + " of step " + std::to_string(entry.step.value()) +
                       " is called " + quoted(entry.body) + ", but $.bodies has " +
                       (is_there ? quoted(file_.labels[labels].body) : std::string("no such body")) + " for node " +
                       std::to_string(node.value()),
                   place + ".body"};
    }
    labels_of_[at] = labels;
    return labels;
  }

 private:
  const ReadFile& file_;
  std::vector<std::vector<std::pair<NodeId, std::size_t>>> bodies_;  // for each labels: node and entry, sorted by node
  std::vector<std::size_t> labels_of_;                               // for each plan
  std::vector<std::vector<std::uint32_t>> used_;                     // for each plan and step: bodies so far
};

Result<void> check_counts(const ReadFile& file, const std::string& place) {
  const Provenance& said = file.plans[0].plan.provenance;
  const Labels& labels = file.labels[0].labels;
  const auto differ = [&](const char* table, std::int64_t count, std::size_t rows) {
    return Error{ErrorCode::invalid,
                 "says " + std::to_string(count) + ", but $." + table + " has " + std::to_string(rows) + " rows",
                 place + "$.provenance." + table};
  };
  if (said.nodes != static_cast<std::int64_t>(labels.nodes.size()))
    return differ("nodes", said.nodes, labels.nodes.size());
  if (said.tensors != static_cast<std::int64_t>(labels.tensors.size())) {
    return differ("tensors", said.tensors, labels.tensors.size());
  }
  return {};
}

}  // namespace

Result<void> check_plan_file(const ReadFile& file, const std::string& source_name) {
  const std::string place = source_name + ": ";
  LOWTIDE_RETURN_IF_ERROR(check_counts(file, place));
  const auto has_streams = [](const ReadPlan& entry) { return entry.plan.streams > 1; };
  if (file.is_for_streams && std::none_of(file.plans.begin(), file.plans.end(), has_streams)) {
    return Error{ErrorCode::invalid, "is for plans with several streams, and here is none", place + "$.schema_version"};
  }
  const auto has_parts = [](const ReadPlan& entry) {
    const auto is_divided = [](const Buffer& buffer) { return !buffer.parts.empty(); };
    return std::any_of(entry.plan.buffers.begin(), entry.plan.buffers.end(), is_divided);
  };
  if (file.is_for_parts && std::none_of(file.plans.begin(), file.plans.end(), has_parts)) {
    return Error{ErrorCode::invalid, "is for plans whose buffers have parts, and here is none",
                 place + "$.schema_version"};
  }
  LOWTIDE_RETURN_IF_ERROR(check_labels(file.labels, place + "$.bodies"));
  const Result<std::vector<int>> depth = check_parents(file.plans, place + "$.body_plans");
  if (!depth) return depth.error();
  BodyMatch bodies(file);
  std::int64_t total = 0;
  for (std::size_t at = 0; at < file.plans.size(); ++at) {
    std::string here = place + "$";
    std::size_t labels = 0;
    if (at > 0) {
      here += ".body_plans[" + std::to_string(at - 1) + "]";
      const Result<std::size_t> matched = bodies.match(at, here);
      if (!matched) return matched.error();
      labels = *matched;
    }
    LOWTIDE_RETURN_IF_ERROR(PlanCheck(file.plans[at].plan, file.labels[labels].labels, here, total).check());
  }
  return {};
}

}  // namespace lowtide::detail
