// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/quote.h"
#include "lowtide/plan/machine.h"
#include "lowtide/verify/plan/stages.h"

namespace lowtide::verify_internal {
namespace {

// The kind of buffer for a tensor that exists before the run. Returns nullopt if a node produces the tensor.
std::optional<BufferKind> kind_before_run(Role role) {
  switch (role) {
    case Role::input: return BufferKind::input;
    case Role::constant: return BufferKind::constant;
    case Role::state: return BufferKind::state;
    case Role::output:
    case Role::temporary: break;
  }
  return std::nullopt;
}

bool belongs_to_caller(BufferKind kind) {
  return kind == BufferKind::input || kind == BufferKind::constant || kind == BufferKind::state;
}

class Roles {
 public:
  explicit Roles(const Subject& subject)
      : subject_(subject),
        plan_(subject.plan),
        owner_(plan_.layout.buffers.size()),
        has_output_(plan_.layout.buffers.size()),
        is_output_(plan_.program.values.size()),
        place_(subject.graph.tensors().size()) {
    for (ValueId output : plan_.program.outputs) is_output_.set(output);
  }

  void check() {
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      if (subject_.findings.is_full()) return;
      if (!plan_.program.values[id].written) check_given(id);
    }
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      if (subject_.findings.is_full()) return;
      if (plan_.program.values[id].written) check_written(id);
    }
    check_scratch_users();
    for (BufferId id : all_ids<BufferId>(plan_.layout.buffers.size())) {
      if (subject_.findings.is_full()) return;
      check_buffer(id);
    }
    check_body_inputs();
  }

 private:
  void wrong(std::optional<StepId> step, std::vector<TensorId> tensors, std::string message,
             ViolationKind kind = ViolationKind::role) {
    subject_.findings.add({.kind = kind, .step = step, .tensors = std::move(tensors), .message = std::move(message)});
  }

  // An input, constant or state must be alone in a buffer of its kind, at offset 0.
  void check_given(ValueId id) {
    const TensorId tensor_id = plan_.program.values[id].tensor;
    const ValuePlace& place = plan_.layout.values[id];
    const Tensor& tensor = subject_.tensor_of(id);
    const Buffer& buffer = subject_.buffer_of(id);
    const std::optional<BufferKind> kind = kind_before_run(tensor.role);
    if (!kind) return;  // a node produces it, so check_program reports it
    const auto name = [&] { return name_of(subject_, tensor_id); };
    const auto role = [&] { return with_article(to_string(tensor.role)); };
    if (buffer.kind != *kind) {
      wrong(std::nullopt, {tensor_id}, name() + " is " + role() + ", but is in " + name_of(subject_, place.buffer));
    }
    if (place_[tensor_id]) {
      wrong(std::nullopt, {tensor_id},
            name() + ", " + role() +
                ", has two places: " + name_of(subject_, plan_.layout.values[*place_[tensor_id]].buffer) + " and " +
                name_of(subject_, place.buffer));
    }
    place_[tensor_id] = id;
    if (owner_[place.buffer]) {
      const TensorId owner = plan_.program.values[*owner_[place.buffer]].tensor;
      wrong(std::nullopt, {owner, tensor_id},
            name_of(subject_, place.buffer) + " holds both " + name_of(subject_, owner) + " and " + name());
    }
    owner_[place.buffer] = id;
    // An input of a body may be in a larger buffer. Only such a buffer has a placement.
    if (place.offset != Offset(0) || (!buffer.placement && buffer.size != tensor.size)) {
      wrong(std::nullopt, {tensor_id},
            name() + " has " + std::to_string(tensor.size.count()) + " bytes and is at offset " +
                std::to_string(place.offset.position()) + " of " + name_of(subject_, place.buffer) + ", which has " +
                std::to_string(buffer.size.count()) + " bytes; " + role() + " must fill a buffer of its own",
            ViolationKind::out_of_buffer);
    }
  }

  // Checks a value that a node or a copy writes.
  void check_written(ValueId id) {
    const Value& value = plan_.program.values[id];
    const BufferId buffer = plan_.layout.values[id].buffer;
    const BufferKind kind = plan_.layout.buffers[buffer].kind;
    const auto name = [&] { return name_of(subject_, value.tensor); };
    const bool is_output = is_output_.test(id);
    if (is_output) has_output_.set(buffer);
    if (kind == BufferKind::scratch) {
      wrong(value.written, {value.tensor},
            name() + " is in " + name_of(subject_, buffer) + ", but scratch cannot hold a value");
    } else if (belongs_to_caller(kind) && !is_alias(subject_.step(*value.written)) && !is_update(buffer)) {
      wrong(value.written, {value.tensor},
            name_of(subject_, *value.written) + " would write " + name() + " into " + name_of(subject_, buffer) +
                ", which must stay untouched");
    } else if (is_output && kind != BufferKind::output) {
      wrong(value.written, {value.tensor},
            name() + " is an output, but is in " + name_of(subject_, buffer) + "; it needs a buffer of kind output");
    }
  }

  // Whether the buffer holds a state that the graph updates. The replay checks what is written, and that it is written
  // only once.
  [[nodiscard]] bool is_update(BufferId buffer) const {
    if (plan_.layout.buffers[buffer].kind != BufferKind::state || !owner_[buffer]) return false;
    const TensorId state = plan_.program.values[*owner_[buffer]].tensor;
    const std::vector<StateUpdate>& updates = subject_.graph.state_updates();
    return std::any_of(updates.begin(), updates.end(), [&](const StateUpdate& one) { return one.state == state; });
  }

  void check_scratch_users() {
    IdVector<BufferId, std::optional<StepId>> user(plan_.layout.buffers.size());
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
      if (!scratch || subject_.findings.is_full()) continue;
      if (plan_.layout.buffers[*scratch].kind != BufferKind::scratch) {
        wrong(id, {},
              name_of(subject_, id) + " uses " + name_of(subject_, *scratch) + " as scratch, but it has another kind");
      }
      if (user[*scratch]) {
        wrong(id, {},
              name_of(subject_, *user[*scratch]) + " and " + name_of(subject_, id) + " both use " +
                  name_of(subject_, *scratch) + "; each step needs scratch of its own");
      }
      user[*scratch] = id;
    }
  }

  void check_buffer(BufferId id) {
    const Buffer& buffer = plan_.layout.buffers[id];
    const auto name = [&] { return name_of(subject_, id); };
    if (buffer.kind == BufferKind::output && !has_output_.test(id))
      wrong(std::nullopt, {}, name() + " holds no output");
    if (buffer.kind == BufferKind::output && buffer.placement && is_outside(plan_.machine, buffer.placement->region)) {
      wrong(std::nullopt, {},
            name() + " holds an output in region " +
                quoted(plan_.machine.regions[buffer.placement->region.index()].name) +
                ", which no worker can address; outputs must be in the arena at the end",
            ViolationKind::unreachable);
    }
    if (!belongs_to_caller(buffer.kind)) return;
    if (!owner_[id]) return wrong(std::nullopt, {}, name() + " holds no " + std::string(to_string(buffer.kind)));
    const TensorId tensor = plan_.program.values[*owner_[id]].tensor;
    const bool is_placed_here =
        subject_.is_body && buffer.kind == BufferKind::input && !subject_.graph.tensor(tensor).is_captured;
    if (buffer.placement && !is_placed_here) {
      wrong(std::nullopt, {tensor},
            name() + " of " + name_of(subject_, tensor) + " has a placement, but its bytes belong to the caller");
    }
    if (!buffer.placement && is_placed_here) {
      wrong(std::nullopt, {tensor},
            name() + " of " + name_of(subject_, tensor) +
                " has no placement, but a plan must place the inputs of a body");
    }
    const bool lives_throughout = buffer.lifespan.begin.value() == 0 && buffer.lifespan.end.index() == subject_.steps();
    if (is_placed_here && !lives_throughout) {
      wrong(std::nullopt, {tensor},
            name() + " of " + name_of(subject_, tensor) + " is not live in all steps of the body",
            ViolationKind::dead_access);
    }
  }

  // Every input of a body needs a place, because the runtime writes it even if no node reads it.
  void check_body_inputs() {
    if (!subject_.is_body) return;
    for (TensorId input : subject_.graph.inputs()) {
      if (subject_.findings.is_full()) return;
      if (!place_[input])
        wrong(std::nullopt, {input}, name_of(subject_, input) + " is an input of the body, but has no place");
    }
  }

  const Subject& subject_;
  const Plan& plan_;
  IdVector<BufferId, std::optional<ValueId>> owner_;  // the value that exists before the run
  Flags<BufferId> has_output_;
  Flags<ValueId> is_output_;
  IdVector<TensorId, std::optional<ValueId>> place_;  // of tensors that exist before the run
};

}  // namespace

void check_roles(const Subject& subject) { Roles(subject).check(); }

}  // namespace lowtide::verify_internal
