// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "lowtide/runtime/execute/own_kernels.h"
#include "lowtide/runtime/execute/stack.h"
#include "lowtide/runtime/execute/tensors.h"

namespace lowtide::runtime_internal {
namespace {

bool is_ok(RunStatus status) { return status.code == RunCode::ok; }

// A tensor that the body gets from the previous iteration.
struct LoopState {
  BoundTensor initial;                // of the node
  BoundTensor current;                // input of the body
  BoundTensor next;                   // output of the body
  BoundTensor last;                   // output of the node; without bytes if it is omitted
  std::byte* waiting = nullptr;       // where `next` waits until the others are in place; nullptr: it needs not wait
  std::vector<std::int64_t> extents;  // of what waits
};

class LoopRun final : public OwnKernel {
 public:
  LoopRun(const LoopAction& action, GraphTables& around, const AllTables& all, const LoopContext& context)
      : action_(action), around_(around), body_(*all[action.body.index()]), control_(context.control) {
    run = [](BoundKernel* self, Team& team) { return static_cast<LoopRun*>(self)->run_loop(team); };
    bind_states(context.addresses);
    const std::size_t states = action.states;
    for (std::size_t at = 0; at < action.sequences.size(); ++at) {
      sequences_.emplace_back(around.bound(*action.operands.reads[states + at]), input(states + at),
                              action.sequences[at]);
    }
    for (std::size_t at = 0; at < action.stacks.size(); ++at) {
      stacks_.emplace_back(output(states + at), result(action.first_result() + states + at), action.stacks[at]);
    }
    if (action.is_scan) return;
    number_ = input(0);
    condition_ = input(1);
    next_condition_ = result(0);
  }

 private:
  [[nodiscard]] BoundTensor input(std::size_t at) const {
    const PreparedGraph& graph = body_.graph();
    return body_.bound(*graph.given[graph.graph.inputs()[at]]);
  }
  [[nodiscard]] BoundTensor result(std::size_t at) const { return body_.bound(body_.graph().plan.program.outputs[at]); }
  [[nodiscard]] BoundTensor output(std::size_t at) const {
    const std::optional<ValueId>& value = action_.operands.writes[at];
    return value ? around_.bound(*value) : BoundTensor{};
  }

  void bind_states(const Addresses& addresses) {
    for (std::size_t at = 0; at < action_.states; ++at) {
      LoopState state{.initial = around_.bound(*action_.operands.reads[action_.first_input() + at]),
                      .current = input(action_.first_input() + at),
                      .next = result(action_.first_result() + at),
                      .last = output(at),
                      .extents = {}};
      if (const std::optional<Offset>& waiting = action_.waiting[at]) {
        state.waiting = addresses.of_extra(*waiting);
        state.extents.resize(static_cast<std::size_t>(state.next.rank));
      }
      states_.push_back(std::move(state));
    }
  }

  RunStatus run_loop(Team& team) {
    body_.take_captures(around_);
    for (const LoopState& state : states_) {
      const RunStatus status = copy_tensor(state.initial, state.current);
      if (!is_ok(status)) return status;
    }
    RunStatus status = action_.is_scan ? run_scan(team) : run_while(team);
    for (std::size_t at = 0; at < states_.size() && is_ok(status); ++at) {
      if (states_[at].last.bytes != nullptr) status = copy_tensor(states_[at].current, states_[at].last);
    }
    return status;
  }

  RunStatus run_scan(Team& team) {
    const std::int64_t length = sequences_.front().length();
    for (const Stack& sequence : sequences_) {
      if (sequence.length() != length) return {RunCode::bad_extents, 0};
    }
    for (Stack& stack : stacks_) stack.begin(length);
    for (std::int64_t number = 0; number < length; ++number) {
      for (Stack& sequence : sequences_) {
        const RunStatus status = sequence.take(number);
        if (!is_ok(status)) return status;
      }
      const RunStatus status = iterate(number, team);
      if (!is_ok(status)) return status;
    }
    return end_stacks(length);
  }

  RunStatus run_while(Team& team) {
    const std::optional<ValueId>& limit_value = action_.operands.reads[0];
    const std::optional<ValueId>& start_value = action_.operands.reads[1];
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();
    if (limit_value) std::memcpy(&limit, around_.address(*limit_value), sizeof limit);
    if (control_.is_touching) limit = std::min<std::int64_t>(limit, 1);
    bool goes_on = !start_value || *around_.address(*start_value) != std::byte{0};
    for (Stack& stack : stacks_) stack.begin(std::nullopt);
    std::int64_t number = 0;
    for (; number < limit && goes_on; ++number) {
      std::memcpy(*number_.bytes, &number, sizeof number);
      **condition_.bytes = std::byte{1};
      const RunStatus status = iterate(number, team);
      if (!is_ok(status)) return status;
      goes_on = goes_on_;
    }
    return end_stacks(number);
  }

  // Runs the body once, stacks its slices, and moves its results to its inputs.
  RunStatus iterate(std::int64_t number, Team& team) {
    if (control_.should_stop()) return {RunCode::stopped, 0};
    RunStatus status = body_.run(team);
    if (!is_ok(status)) return status;
    goes_on_ = next_condition_.bytes == nullptr || **next_condition_.bytes != std::byte{0};
    for (Stack& stack : stacks_) {
      status = stack.put(number);
      if (!is_ok(status)) return status;
    }
    return move_states();
  }

  // A result that has the bytes of an input waits until no input is overwritten anymore.
  RunStatus move_states() {
    for (LoopState& state : states_) {
      if (state.waiting == nullptr) continue;
      const std::int64_t bytes = bytes_of(state.next);
      if (bytes > state.current.capacity_bytes) return {RunCode::size_exceeds_plan, 0};
      std::memcpy(state.waiting, *state.next.bytes, static_cast<std::size_t>(bytes));
      std::ranges::copy(extents_of(state.next), state.extents.begin());
    }
    for (const LoopState& state : states_) {
      if (state.waiting != nullptr) continue;
      const RunStatus status = copy_tensor(state.next, state.current);
      if (!is_ok(status)) return status;
    }
    for (const LoopState& state : states_) {
      if (state.waiting == nullptr) continue;
      const RunStatus status = set_extents(state.current, state.extents);
      if (!is_ok(status)) return status;
      std::memcpy(*state.current.bytes, state.waiting, static_cast<std::size_t>(bytes_of(state.current)));
    }
    return {};
  }

  RunStatus end_stacks(std::int64_t slices) {
    for (Stack& stack : stacks_) {
      const RunStatus status = stack.end(slices);
      if (!is_ok(status)) return status;
    }
    return {};
  }

  const LoopAction& action_;
  GraphTables& around_;
  GraphTables& body_;
  const RunControl& control_;
  std::vector<LoopState> states_;
  std::vector<Stack> sequences_;
  std::vector<Stack> stacks_;
  BoundTensor number_;  // the inputs of the body of a Loop; without bytes for a Scan
  BoundTensor condition_;
  BoundTensor next_condition_;
  bool goes_on_ = true;
};

}  // namespace

std::unique_ptr<OwnKernel> loop_run(const LoopAction& action, GraphTables& around, const AllTables& all,
                                    const LoopContext& context) {
  return std::make_unique<LoopRun>(action, around, all, context);
}

}  // namespace lowtide::runtime_internal
