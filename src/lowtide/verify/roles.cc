// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/verify/stages.h"

namespace lowtide::verification {
namespace {

// The kind of buffer that holds what is there before the run, or nothing for what a node produces.
std::optional<BufferKind> kind_before_run(Role role) {
  switch (role) {
    case Role::input:
      return BufferKind::input;
    case Role::constant:
      return BufferKind::constant;
    case Role::state:
      return BufferKind::state;
    case Role::output:
    case Role::temporary:
      break;
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
        owner_(plan_.buffers.size()),
        has_output_(plan_.buffers.size(), 0),
        place_(subject.graph.tensors().size()) {}

  void check() {
    for (ValueId id : all_ids<ValueId>(plan_.values.size())) {
      if (subject_.findings.is_full()) return;
      if (kind_before_run(subject_.tensor_of(id).role)) {
        check_given(id);
      } else {
        check_produced(id);
      }
    }
    check_scratch_users();
    for (BufferId id : all_ids<BufferId>(plan_.buffers.size())) {
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

  // An input, constant or state: alone in a buffer of its kind, from its first byte on.
  void check_given(ValueId id) {
    const Value& value = plan_.values[id];
    const Tensor& tensor = subject_.tensor_of(id);
    const Buffer& buffer = subject_.buffer_of(id);
    const std::string name = name_of(subject_, value.tensor);
    const std::string role = with_article(to_string(tensor.role));
    if (value.written) wrong(value.written, {value.tensor}, name + " is " + role + ", but the plan writes it");
    if (buffer.kind != kind_before_run(tensor.role)) {
      wrong(std::nullopt, {value.tensor}, name + " is " + role + ", but lies in " + name_of(subject_, value.buffer));
    }
    if (place_[value.tensor]) {
      wrong(std::nullopt, {value.tensor},
            name + ", " + role + ", has two places: " + name_of(subject_, plan_.values[*place_[value.tensor]].buffer) +
                " and " + name_of(subject_, value.buffer));
    }
    place_[value.tensor] = id;
    if (owner_[value.buffer]) {
      wrong(std::nullopt, {plan_.values[*owner_[value.buffer]].tensor, value.tensor},
            name_of(subject_, value.buffer) + " holds both " +
                name_of(subject_, plan_.values[*owner_[value.buffer]].tensor) + " and " + name);
    }
    owner_[value.buffer] = id;
    // A placed one, of a body, may have more bytes set aside than it needs.
    if (value.offset != Offset(0) || (!buffer.placement && buffer.size != tensor.size)) {
      wrong(std::nullopt, {value.tensor},
            name + " of " + std::to_string(tensor.size.count()) + " bytes is at offset " +
                std::to_string(value.offset.position()) + " of " + name_of(subject_, value.buffer) + ", which has " +
                std::to_string(buffer.size.count()) + "; " + role + " has its buffer to itself",
            ViolationKind::out_of_buffer);
    }
  }

  void check_produced(ValueId id) {
    const Value& value = plan_.values[id];
    const BufferKind kind = subject_.buffer_of(id).kind;
    const bool is_output = subject_.tensor_of(id).role == Role::output;
    const std::string name = name_of(subject_, value.tensor);
    if (!value.written) return;  // a matter of data flow
    if (is_output) has_output_[value.buffer] = 1;
    if (kind == BufferKind::scratch) {
      wrong(value.written, {value.tensor},
            name + " lies in " + name_of(subject_, value.buffer) + ", which holds no value");
    } else if (belongs_to_caller(kind) && plan_.program[*value.written].kind == StepKind::compute) {
      wrong(value.written, {value.tensor},
            name_of(subject_, *value.written) + " would write " + name + " into " + name_of(subject_, value.buffer) +
                ", which must stay untouched");
    } else if (is_output && kind != BufferKind::output) {
      wrong(value.written, {value.tensor},
            name + " is an output, but lies in " + name_of(subject_, value.buffer) +
                "; it needs a buffer of kind output");
    }
  }

  void check_scratch_users() {
    IdVector<BufferId, std::optional<StepId>> user(plan_.buffers.size());
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      const std::optional<BufferId>& scratch = plan_.program[id].scratch;
      if (!scratch || subject_.findings.is_full()) continue;
      if (plan_.buffers[*scratch].kind != BufferKind::scratch) {
        wrong(id, {}, name_of(subject_, id) + " uses " + name_of(subject_, *scratch) + " as scratch");
      }
      if (user[*scratch]) {
        wrong(id, {},
              name_of(subject_, *user[*scratch]) + " and " + name_of(subject_, id) + " both have " +
                  name_of(subject_, *scratch) + "; each step has its own");
      }
      user[*scratch] = id;
    }
  }

  void check_buffer(BufferId id) {
    const Buffer& buffer = plan_.buffers[id];
    const std::string name = name_of(subject_, id);
    if (buffer.kind == BufferKind::output && has_output_[id] == 0) wrong(std::nullopt, {}, name + " holds no output");
    if (!belongs_to_caller(buffer.kind)) return;
    if (!owner_[id]) return wrong(std::nullopt, {}, name + " holds no " + std::string(to_string(buffer.kind)));
    const TensorId tensor = plan_.values[*owner_[id]].tensor;
    const bool is_placed_here =
        subject_.is_body && buffer.kind == BufferKind::input && !subject_.graph.tensor(tensor).is_captured;
    if (buffer.placement && !is_placed_here) {
      wrong(std::nullopt, {tensor},
            name + " of " + name_of(subject_, tensor) + " has a placement, but its bytes are the caller's");
    }
    if (!buffer.placement && is_placed_here) {
      wrong(std::nullopt, {tensor},
            name + " of " + name_of(subject_, tensor) + " has no placement, but nobody else holds an input of a body");
    }
    const bool lives_throughout = buffer.lifespan.begin.value() == 0 && buffer.lifespan.end.index() == subject_.steps();
    if (is_placed_here && !lives_throughout) {
      wrong(std::nullopt, {tensor}, name + " of " + name_of(subject_, tensor) + " does not live through the whole body",
            ViolationKind::dead_access);
    }
  }

  // Whoever runs a body writes its inputs, read or not.
  void check_body_inputs() {
    if (!subject_.is_body) return;
    for (TensorId input : subject_.graph.inputs()) {
      if (subject_.findings.is_full()) return;
      if (!place_[input])
        wrong(std::nullopt, {input}, name_of(subject_, input) + ", an input of the body, has no place");
    }
  }

  const Subject& subject_;
  const Plan& plan_;
  IdVector<BufferId, std::optional<ValueId>> owner_;  // the value that is there before the run
  IdVector<BufferId, char> has_output_;
  IdVector<TensorId, std::optional<ValueId>> place_;  // of what is there before the run
};

}  // namespace

void check_roles(const Subject& subject) { Roles(subject).check(); }

}  // namespace lowtide::verification
