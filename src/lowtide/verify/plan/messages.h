// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowtide/verify/bytes/alias_meaning.h"
#include "lowtide/verify/plan/byte_map.h"
#include "lowtide/verify/plan/subject.h"

namespace lowtide::verify_internal {

// Bytes that a step reads or writes.
struct Access {
  Place place;
  std::optional<ValueId> value;  // nullopt: the scratch of the step
  bool is_write = true;
};

// The bytes that two places of one storage share.
[[nodiscard]] Interval<std::int64_t> common_bytes(const Place& a, const Place& b);

// Adds the findings of the replay and of the race check, one function per way in which a plan is wrong. Each finding
// names the step, the tensors, the bytes and the reason. `subject` and `map` must outlive it.
class Messages {
 public:
  Messages(const Subject& subject, const ByteMap& map) : subject_(subject), plan_(subject.plan), map_(map) {}

  // A step uses a buffer in which not all bytes live at the step, but only in `life`. `value`: nullopt for scratch.
  void dead_access(StepId step, const char* verb, BufferId buffer, std::optional<ValueId> value, Lifespan life) const;
  // `writer` overwrites bytes of a value in `place` before `reader` reads them. A `reader` of nullopt is the end.
  void overwritten(ValueId value, const Place& place, StepId writer, const Access& written,
                   std::optional<StepId> reader) const;
  // A step writes bytes of a state that an earlier step has updated.
  void updated_twice(StepId step, const Access& access, StepId earlier) const;
  // The source and the target of a copy share bytes.
  void copied_over_itself(StepId step, const Place& source, const Place& target) const;
  // One step writes two things into the same bytes.
  void written_together(StepId step, const Access& a, const Access& b) const;
  // A kernel writes over an operand, which it may not.
  void written_over_operand(StepId step, ValueId operand, const Access& access, const std::string& why) const;

  // An alias step has scratch, its operator must compute, or one part of its output is elsewhere.
  void alias_with_scratch(StepId step) const;
  void not_an_alias(StepId step, const std::string& why) const;
  void part_elsewhere(StepId step, const SameBytes& part, ValueId input, ValueId output) const;

  // At the end, an output is dead, two outputs share bytes, or a state has no place or lacks its next content.
  void short_lived_output(ValueId output, const Lifespan& life) const;
  void outputs_share_bytes(ValueId a, ValueId b) const;
  void state_without_place(TensorId state) const;
  void update_elsewhere(TensorId state, ValueId next) const;

  // Steps of two streams that may run at the same time.
  void no_wait_for_value(StepId step, ValueId read) const;
  void no_wait_for_control(StepId step, StepId before) const;
  void race(StepId earlier, const Access& first, StepId later, const Access& second) const;

 private:
  void add(Violation violation) const { subject_.findings.add(std::move(violation)); }
  void add_alias(StepId step, const std::string& message) const;
  [[nodiscard]] TensorId tensor(ValueId value) const { return plan_.program.values[value].tensor; }
  [[nodiscard]] std::vector<TensorId> tensors_of(const Access& a, const Access& b) const;
  [[nodiscard]] std::string name(ValueId value) const { return name_of(subject_, tensor(value)); }
  [[nodiscard]] std::string name(const Access& access) const;
  [[nodiscard]] std::string where(const Interval<std::int64_t>& bytes, const Place& place) const;

  const Subject& subject_;
  const Plan& plan_;
  const ByteMap& map_;
};

}  // namespace lowtide::verify_internal
