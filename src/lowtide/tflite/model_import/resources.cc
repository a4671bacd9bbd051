// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/model_import/resources.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "lowtide/tflite/flatbuffer/resource_variable.h"

namespace lowtide::model_import_internal {
namespace {

// Many operators may run one subgraph, and each has its uses. So those of a subgraph are only named up to this number.
constexpr std::size_t kMostNamed = 64;

// Names of variables for which a handle has no container. Such a handle may mean the variable of any container.
std::set<std::string> names_in_any_container(const TfliteModel& model) {
  std::set<std::string> names;
  for (const TfliteSubgraph& subgraph : model.subgraphs) {
    for (const TfliteOperator& op : subgraph.operators) {
      if (!is_var_handle(op)) continue;
      if (const TfliteVariable variable = variable_of(op); !variable.container) names.insert(variable.name);
    }
  }
  return names;
}

// What tells a variable from all others of the model.
std::string key_of(const TfliteVariable& variable, const std::set<std::string>& in_any_container) {
  if (in_any_container.contains(variable.name)) return "variable in any container " + variable.name;
  const std::string container = variable.container.value_or("");
  return "variable " + std::to_string(container.size()) + " " + container + variable.name;
}

std::string key_of_table(const TfliteOperator& op) {
  const auto* id = find_option<std::int64_t>(op, "table_id");
  return "table " + std::to_string(id != nullptr ? *id : 0);
}

// The resource of each tensor that is a handle. nullopt: the tensor is no handle that an operator of the subgraph made.
std::vector<std::optional<std::string>> handles_of(const TfliteSubgraph& subgraph,
                                                   const std::set<std::string>& in_any_container) {
  std::vector<std::optional<std::string>> handles(subgraph.tensors.size());
  for (const TfliteOperator& op : subgraph.operators) {
    if (op.outputs.empty() || !op.outputs[0]) continue;
    if (is_var_handle(op)) {
      handles[*op.outputs[0]] = key_of(variable_of(op), in_any_container);
    } else if (is_builtin(op, "HASHTABLE")) {
      handles[*op.outputs[0]] = key_of_table(op);
    }
  }
  return handles;
}

bool only_reads(const TfliteOperator& op) {
  return is_builtin(op, "READ_VARIABLE") || is_builtin(op, "HASHTABLE_FIND") || is_builtin(op, "HASHTABLE_SIZE");
}

std::vector<Use> uses_of(const TfliteSubgraph& subgraph, std::uint32_t index, const TfliteOperator& op,
                         const std::vector<std::optional<std::string>>& handles) {
  std::vector<Use> uses;
  for (const std::optional<std::uint32_t>& input : op.inputs) {
    if (!input) continue;
    const TfliteTensor& tensor = subgraph.tensors[*input];
    if (tensor.is_variable) {
      uses.push_back({"tensor " + std::to_string(index) + " " + std::to_string(*input), true});
    } else if (tensor.type == TfliteType::resource) {
      uses.push_back({handles[*input].value_or(kAnyResource), !only_reads(op)});
    }
  }
  return uses;
}

void sort_and_merge(std::vector<Use>& uses) {
  // With writes first, one entry per resource is left, which writes if any does.
  std::sort(uses.begin(), uses.end(),
            [](const Use& a, const Use& b) { return a.what != b.what ? a.what < b.what : a.writes > b.writes; });
  uses.erase(std::unique(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.what == b.what; }),
             uses.end());
}

// Collects which operators must come before the next one.
class Sequence {
 public:
  std::vector<std::uint32_t> add(std::uint32_t op, const std::vector<Use>& uses) {
    std::vector<std::uint32_t> before;
    for (const Use& use : uses) {
      if (use.what == kAnyResource) {
        for (const auto& [what, last] : last_) {
          before.insert(before.end(), last.readers.begin(), last.readers.end());
          if (last.writer) before.push_back(*last.writer);
        }
        if (barrier_) before.push_back(*barrier_);
        last_.clear();
        barrier_ = op;
        break;
      }
    }
    const bool is_barrier = barrier_ == op;
    for (const Use& use : uses) {
      if (is_barrier) break;
      if (barrier_) before.push_back(*barrier_);
      Last& last = last_[use.what];
      if (last.writer) before.push_back(*last.writer);
      if (!use.writes) {
        last.readers.push_back(op);
        continue;
      }
      before.insert(before.end(), last.readers.begin(), last.readers.end());
      last = {.writer = op};
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    return before;
  }

 private:
  struct Last {
    std::optional<std::uint32_t> writer;
    std::vector<std::uint32_t> readers = {};  // since the writer
  };
  std::map<std::string, Last> last_;      // since the barrier
  std::optional<std::uint32_t> barrier_;  // the last operator that may use any resource
};

}  // namespace

std::vector<std::uint32_t> subgraphs_bottom_up(const TfliteModel& model) {
  std::vector<std::uint32_t> order;
  std::vector<bool> is_reached(model.subgraphs.size(), false);
  struct Frame {
    std::uint32_t subgraph;
    std::size_t op = 0;
    std::size_t call = 0;
  };
  std::vector<Frame> frames = {{0}};
  is_reached[0] = true;
  while (!frames.empty()) {
    Frame& frame = frames.back();
    const auto& operators = model.subgraphs[frame.subgraph].operators;
    if (frame.op == operators.size()) {
      order.push_back(frame.subgraph);
      frames.pop_back();
      continue;
    }
    if (frame.call == operators[frame.op].calls.size()) {
      ++frame.op;
      frame.call = 0;
      continue;
    }
    const std::uint32_t next = operators[frame.op].calls[frame.call++].subgraph;
    if (is_reached[next]) continue;
    is_reached[next] = true;
    frames.push_back({next});
  }
  return order;
}

ResourceUses::ResourceUses(const TfliteModel& model) : uses_(model.subgraphs.size()) {
  const std::set<std::string> in_any_container = names_in_any_container(model);
  std::vector<std::vector<Use>> all(model.subgraphs.size());  // of each subgraph
  for (std::uint32_t index : subgraphs_bottom_up(model)) {
    const TfliteSubgraph& subgraph = model.subgraphs[index];
    const auto handles = handles_of(subgraph, in_any_container);
    for (const TfliteOperator& op : subgraph.operators) {
      std::vector<Use> uses = uses_of(subgraph, index, op, handles);
      for (const TfliteCall& call : op.calls) {
        uses.insert(uses.end(), all[call.subgraph].begin(), all[call.subgraph].end());
      }
      sort_and_merge(uses);
      all[index].insert(all[index].end(), uses.begin(), uses.end());
      uses_[index].push_back(std::move(uses));
    }
    sort_and_merge(all[index]);
    if (all[index].size() > kMostNamed) all[index] = {{kAnyResource, true}};
  }
}

std::vector<std::vector<std::uint32_t>> ResourceUses::order_of(std::uint32_t subgraph) const {
  std::vector<std::vector<std::uint32_t>> order;
  Sequence sequence;
  for (std::uint32_t op = 0; op < uses_[subgraph].size(); ++op) order.push_back(sequence.add(op, uses_[subgraph][op]));
  return order;
}

}  // namespace lowtide::model_import_internal
