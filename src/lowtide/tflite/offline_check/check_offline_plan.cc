// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/offline_check/check_offline_plan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/tflite/offline_check/byte_owners.h"
#include "lowtide/tflite/offline_check/stated_offsets.h"

namespace lowtide {
namespace offline_check_internal {
namespace {

constexpr std::size_t kMostFaults = 20;
constexpr std::int64_t kMostWork = 200'000'000;  // a second or so

// Reference kernels that compute the same if the result is exactly where an operand is, and how many of their first
// operands that may be. Runs of the runtime have shown it for each.
struct SafeRow {
  std::string_view type;
  std::size_t operands;
};
constexpr auto kSafe = std::to_array<SafeRow>({{"ADD", 2},
                                               {"ADD_N", 2},
                                               {"EXPAND_DIMS", 1},
                                               {"HARD_SWISH", 1},
                                               {"LEAKY_RELU", 1},
                                               {"LOGISTIC", 1},
                                               {"MAXIMUM", 2},
                                               {"MINIMUM", 2},
                                               {"MUL", 2},
                                               {"PRELU", 1},
                                               {"QUANTIZE", 1},
                                               {"RELU", 1},
                                               {"RELU6", 1},
                                               {"RESHAPE", 1},
                                               {"SOFTMAX", 1},
                                               {"SQUEEZE", 1},
                                               {"SUB", 2},
                                               {"TANH", 1}});
constexpr auto kMoves = std::to_array<std::string_view>({"EXPAND_DIMS", "RESHAPE", "SQUEEZE"});

// The operand may be where the first result is.
bool may_be_in_place(const TfliteOperator& op, std::size_t operand) {
  if (op.builtin == kTfliteCustom) return false;
  return std::ranges::any_of(kSafe, [&](const SafeRow& row) { return row.type == op.type && operand < row.operands; });
}

bool overlap(const StatedPlace& a, const StatedPlace& b) {
  return a.begin < b.begin + b.size && b.begin < a.begin + a.size;
}
bool is_same(const StatedPlace& a, const StatedPlace& b) { return a.begin == b.begin && a.size == b.size; }

// What is in memory at one moment of a run.
struct State {
  ByteOwners bytes;
  std::vector<std::vector<std::uint32_t>> contents;  // by subgraph and tensor; 0: none
};

class Replay {
 public:
  Replay(const TfliteModel& model, const StatedPlaces& places, OfflineCheck& check)
      : model_(model), places_(places), check_(check) {
    for (const TfliteSubgraph& subgraph : model.subgraphs) {
      state_.contents.emplace_back(subgraph.tensors.size(), 0);
      tensors_ += static_cast<std::int64_t>(subgraph.tensors.size());
    }
  }

  Result<void> run() {
    for (std::uint32_t input : model_.subgraphs[0].inputs) write_input({0, input});
    LOWTIDE_RETURN_IF_ERROR(run_subgraph(0, 0));
    for (std::uint32_t output : model_.subgraphs[0].outputs) read({0, output}, "the caller");
    return {};
  }

 private:
  struct Tensor {
    std::uint32_t subgraph;
    std::uint32_t tensor;
  };

  [[nodiscard]] const std::optional<StatedPlace>& place(Tensor one) const { return places_[one.subgraph][one.tensor]; }
  [[nodiscard]] std::string shown(Tensor one) const {
    return "tensor " + std::to_string(one.tensor) + " " +
           quoted(model_.subgraphs[one.subgraph].tensors[one.tensor].name, 60);
  }

  [[nodiscard]] bool is_full() const { return check_.faults.size() >= kMostFaults; }
  void fault(const std::string& place, std::string message) {
    const bool is_known = std::ranges::any_of(
        check_.faults, [&](const OfflineFault& one) { return one.place == place && one.message == message; });
    if (!is_full() && !is_known) check_.faults.push_back({place, std::move(message)});
  }

  void write(Tensor to) {
    if (!place(to)) return;
    owners_.push_back(to);
    const auto content = static_cast<std::uint32_t>(owners_.size());
    state_.contents[to.subgraph][to.tensor] = content;
    state_.bytes.write(place(to)->begin, place(to)->begin + place(to)->size, content);
  }

  // The caller may write the inputs in any order.
  void write_input(Tensor to) {
    if (!place(to)) return;
    const std::uint32_t other = state_.bytes.other_than(place(to)->begin, place(to)->begin + place(to)->size, 0);
    if (other != 0 && owners_[other - 1].tensor != to.tensor) {
      fault("the caller", "it writes " + shown(to) + " over " + shown(owners_[other - 1]) + ", which is an input too");
    }
    write(to);
  }

  void read(Tensor from, const std::string& reader) {
    if (!place(from)) return;
    const std::uint32_t expected = state_.contents[from.subgraph][from.tensor];
    const std::uint32_t found =
        state_.bytes.other_than(place(from)->begin, place(from)->begin + place(from)->size, expected);
    if (found == expected && expected != 0) return;
    const std::string by = found == 0 ? "in some runs, another tensor has" : shown(owners_[found - 1]) + " has";
    fault(reader, "it reads " + shown(from) + ", whose bytes " + by + " overwritten");
  }

  // Copies tensors one after another, as the runtime does at the borders of subgraphs.
  void copy(const std::vector<Tensor>& from, const std::vector<Tensor>& to, const std::string& where) {
    for (std::size_t at = 0; at < std::min(from.size(), to.size()); ++at) {
      read(from[at], where);
      const bool is_there = place(from[at]) && place(to[at]) && is_same(*place(from[at]), *place(to[at]));
      if (is_there) {
        state_.contents[to[at].subgraph][to[at].tensor] = state_.contents[from[at].subgraph][from[at].tensor];
        continue;
      }
      if (place(from[at]) && place(to[at]) && overlap(*place(from[at]), *place(to[at]))) {
        fault(where, "it copies " + shown(from[at]) + " to " + shown(to[at]) + ", which has some of its bytes");
      }
      write(to[at]);
    }
  }

  static std::vector<Tensor> all_of(std::uint32_t subgraph, const std::vector<std::uint32_t>& tensors) {
    std::vector<Tensor> all;
    for (std::uint32_t tensor : tensors) all.push_back({subgraph, tensor});
    return all;
  }
  static std::vector<Tensor> all_of(std::uint32_t subgraph, const std::vector<std::optional<std::uint32_t>>& tensors,
                                    std::size_t from = 0) {
    std::vector<Tensor> all;
    for (std::size_t at = from; at < tensors.size(); ++at) {
      if (tensors[at]) all.push_back({subgraph, *tensors[at]});
    }
    return all;
  }
  [[nodiscard]] std::vector<Tensor> inputs_of(std::uint32_t subgraph) const {
    return all_of(subgraph, model_.subgraphs[subgraph].inputs);
  }
  [[nodiscard]] std::vector<Tensor> outputs_of(std::uint32_t subgraph) const {
    return all_of(subgraph, model_.subgraphs[subgraph].outputs);
  }

  // Recursion is bounded by limits::kMaxBodyNesting.
  Result<void> run_subgraph(std::uint32_t index, int depth) {
    if (depth > limits::kMaxBodyNesting) {
      return Error{ErrorCode::over_limit,
                   "subgraphs run each other deeper than " + std::to_string(limits::kMaxBodyNesting) +
                       " levels (kMaxBodyNesting)",
                   ""};
    }
    const std::vector<TfliteOperator>& operators = model_.subgraphs[index].operators;
    for (std::uint32_t at = 0; at < operators.size() && !is_full(); ++at) {
      const TfliteOperator& op = operators[at];
      const std::string type = op.builtin == kTfliteCustom ? quoted(op.type, 60) : op.type;
      const std::string where = "subgraph " + std::to_string(index) + ": operator " + std::to_string(at) + " " + type;
      LOWTIDE_RETURN_IF_ERROR(spend(1 + static_cast<std::int64_t>(op.inputs.size() * op.outputs.size())));
      if (op.calls.empty()) {
        run_kernel(index, op, where);
      } else if (op.type == "WHILE") {
        LOWTIDE_RETURN_IF_ERROR(run_while(index, op, where, depth));
      } else {
        LOWTIDE_RETURN_IF_ERROR(run_calls(index, op, where, depth));
      }
    }
    return {};
  }

  Result<void> spend(std::int64_t work) {
    work_ += work;
    if (work_ <= kMostWork) return {};
    return Error{ErrorCode::over_limit, "its subgraphs run so often that a check would take minutes", ""};
  }

  void run_kernel(std::uint32_t index, const TfliteOperator& op, const std::string& where) {
    for (const Tensor& input : all_of(index, op.inputs)) read(input, where);
    if (moves_nothing(index, op)) {
      state_.contents[index][*op.outputs[0]] = state_.contents[index][*op.inputs[0]];
      return;
    }
    for (std::size_t at = 0; at < op.outputs.size(); ++at) {
      if (!op.outputs[at] || !place({index, *op.outputs[at]})) continue;
      const Tensor output{index, *op.outputs[at]};
      check_operands(op, at, output, where);
      for (std::size_t other = 0; other < at; ++other) {
        if (!op.outputs[other] || !place({index, *op.outputs[other]})) continue;
        if (!overlap(*place(output), *place({index, *op.outputs[other]}))) continue;
        fault(where, "its results " + shown({index, *op.outputs[other]}) + " and " + shown(output) + " share bytes");
      }
    }
    for (const Tensor& output : all_of(index, op.outputs)) write(output);
  }

  // Whether the result is its operand.
  [[nodiscard]] bool moves_nothing(std::uint32_t index, const TfliteOperator& op) const {
    if (op.builtin == kTfliteCustom || std::ranges::find(kMoves, op.type) == kMoves.end()) return false;
    if (op.inputs.empty() || op.outputs.empty() || !op.inputs[0] || !op.outputs[0]) return false;
    const auto& from = place({index, *op.inputs[0]});
    const auto& to = place({index, *op.outputs[0]});
    return from && to && is_same(*from, *to);
  }

  void check_operands(const TfliteOperator& op, std::size_t result, Tensor output, const std::string& where) {
    for (std::size_t at = 0; at < op.inputs.size(); ++at) {
      if (!op.inputs[at]) continue;
      const Tensor input{output.subgraph, *op.inputs[at]};
      if (!place(input) || !overlap(*place(input), *place(output))) continue;
      if (result == 0 && is_same(*place(input), *place(output)) && may_be_in_place(op, at)) continue;
      fault(where, "it writes " + shown(output) + " over " + shown(input) + ", which it still reads");
    }
  }

  // IF, CALL_ONCE and CALL: each subgraph may run, from the same state, or none of them.
  Result<void> run_calls(std::uint32_t index, const TfliteOperator& op, const std::string& where, int depth) {
    const bool is_if = op.type == "IF";
    for (const Tensor& input : all_of(index, op.inputs)) read(input, where);
    const State before = state_;
    std::optional<State> after;
    if (op.type == "CALL_ONCE") after = before;
    for (const TfliteCall& call : op.calls) {
      LOWTIDE_RETURN_IF_ERROR(spend(tensors_ + static_cast<std::int64_t>(before.bytes.pieces())));
      state_ = before;
      copy(all_of(index, op.inputs, is_if ? 1 : 0), inputs_of(call.subgraph), where);
      LOWTIDE_RETURN_IF_ERROR(run_subgraph(call.subgraph, depth + 1));
      copy(outputs_of(call.subgraph), all_of(index, op.outputs), where);
      after = after ? merged(*std::move(after), state_) : state_;
    }
    state_ = *std::move(after);
    rewrite(all_of(index, op.outputs));
    return {};
  }

  // The results hold what goes from one iteration to the next.
  Result<void> run_while(std::uint32_t index, const TfliteOperator& op, const std::string& where, int depth) {
    const std::uint32_t condition = op.calls[0].subgraph;
    const std::uint32_t body = op.calls[1].subgraph;
    const std::vector<Tensor> results = all_of(index, op.outputs);
    copy(all_of(index, op.inputs), inputs_of(condition), where);
    copy(all_of(index, op.inputs), results, where);
    LOWTIDE_RETURN_IF_ERROR(run_subgraph(condition, depth + 1));
    for (const Tensor& one : outputs_of(condition)) read(one, where);
    State after = state_;
    for (int iteration = 0; iteration < 2; ++iteration) {
      LOWTIDE_RETURN_IF_ERROR(spend(tensors_ + static_cast<std::int64_t>(state_.bytes.pieces())));
      copy(results, inputs_of(body), where);
      LOWTIDE_RETURN_IF_ERROR(run_subgraph(body, depth + 1));
      copy(outputs_of(body), results, where);
      copy(results, inputs_of(condition), where);
      LOWTIDE_RETURN_IF_ERROR(run_subgraph(condition, depth + 1));
      for (const Tensor& one : outputs_of(condition)) read(one, where);
      for (const Tensor& one : results) read(one, where);
      after = merged(std::move(after), state_);
    }
    state_ = std::move(after);
    rewrite(results);
    return {};
  }

  // What is the same in both.
  static State merged(State one, const State& other) {
    one.bytes.merge(other.bytes);
    for (std::size_t subgraph = 0; subgraph < one.contents.size(); ++subgraph) {
      for (std::size_t tensor = 0; tensor < one.contents[subgraph].size(); ++tensor) {
        if (one.contents[subgraph][tensor] != other.contents[subgraph][tensor]) one.contents[subgraph][tensor] = 0;
      }
    }
    return one;
  }

  // Every way wrote the results, with contents of its own, and nothing came after. So each has one content from here.
  void rewrite(const std::vector<Tensor>& results) {
    for (const Tensor& result : results) write(result);
  }

  const TfliteModel& model_;
  const StatedPlaces& places_;
  OfflineCheck& check_;
  State state_;
  std::vector<Tensor> owners_;  // who wrote each content, from number 1 on
  std::int64_t tensors_ = 0;
  std::int64_t work_ = 0;
};

}  // namespace
}  // namespace offline_check_internal

Result<OfflineCheck> check_offline_plan(const TfliteModel& model, std::string_view bytes) {
  OfflineCheck check;
  const offline_check_internal::StatedPlaces places = offline_check_internal::read_stated_places(model, bytes, check);
  if (places.empty()) return check;
  LOWTIDE_RETURN_IF_ERROR(offline_check_internal::Replay(model, places, check).run());
  return check;
}

}  // namespace lowtide
