// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/plan/messages.h"

#include <algorithm>
#include <utility>

namespace lowtide::verify_internal {

Interval<std::int64_t> common_bytes(const Place& a, const Place& b) {
  return {std::max(a.bytes.begin, b.bytes.begin), std::min(a.bytes.end, b.bytes.end)};
}

std::string Messages::name(const Access& access) const {
  return access.value ? name(*access.value) : std::string("its scratch");
}

std::string Messages::where(const Interval<std::int64_t>& bytes, const Place& place) const {
  const std::optional<RegionId> region = map_.region_of(place);
  return name_of(bytes) + " of " + (region ? name_of(subject_, *region) : name_of(subject_, map_.buffer_of(place)));
}

std::vector<TensorId> Messages::tensors_of(const Access& a, const Access& b) const {
  std::vector<TensorId> tensors;
  for (const Access* one : {&a, &b}) {
    if (one->value) tensors.push_back(tensor(*one->value));
  }
  return tensors;
}

void Messages::dead_access(StepId step, const char* verb, BufferId buffer, std::optional<ValueId> value,
                           Lifespan life) const {
  const bool has_parts = !plan_.layout.buffers[buffer].parts.empty();
  add({.kind = ViolationKind::dead_access,
       .step = step,
       .tensors = value ? std::vector<TensorId>{tensor(*value)} : std::vector<TensorId>{},
       .message = name_of(subject_, step) + " " + verb + " " + (value ? name(*value) + " in " : "") +
                  name_of(subject_, buffer) + ", " +
                  (has_parts ? "in which these bytes are all live" : "which is live") + " only in steps [" +
                  std::to_string(life.begin.value()) + ", " + std::to_string(life.end.value()) + ")"});
}

void Messages::overwritten(ValueId value, const Place& place, StepId writer, const Access& written,
                           std::optional<StepId> reader) const {
  std::vector<TensorId> tensors{tensor(value)};
  if (written.value) tensors.push_back(tensor(*written.value));
  const Interval<std::int64_t> bytes = common_bytes(place, written.place);
  add({.kind = reader ? ViolationKind::clobbered : ViolationKind::output_lost,
       .step = reader.value_or(writer),
       .tensors = std::move(tensors),
       .region = map_.region_of(place),
       .bytes = bytes,
       .message = (reader ? name_of(subject_, *reader) + " reads " + name(value) + " from "
                          : name(value) + " should be intact at the end in ") +
                  where(place.bytes, place) + ", but " + name_of(subject_, writer) + " overwrote " + name_of(bytes) +
                  " with " + name(written)});
}

void Messages::updated_twice(StepId step, const Access& access, StepId earlier) const {
  add({.kind = ViolationKind::role,
       .step = step,
       .tensors = {tensor(*access.value)},
       .region = map_.region_of(access.place),
       .bytes = access.place.bytes,
       .message = name_of(subject_, step) + " writes " + name(access) + " into " +
                  where(access.place.bytes, access.place) + ", which " + name_of(subject_, earlier) +
                  " has already updated"});
}

void Messages::copied_over_itself(StepId step, const Place& source, const Place& target) const {
  const ValueId from = plan_.program.steps[step].reads[0];
  const Interval<std::int64_t> bytes = common_bytes(source, target);
  add({.kind = ViolationKind::clobbered,
       .step = step,
       .tensors = {tensor(plan_.program.steps[step].writes[0])},
       .region = map_.region_of(target),
       .bytes = bytes,
       .message = name_of(subject_, step) + " copies " + name(from) + " over itself in " + where(bytes, target)});
}

void Messages::written_together(StepId step, const Access& a, const Access& b) const {
  const Interval<std::int64_t> bytes = common_bytes(a.place, b.place);
  add({.kind = ViolationKind::clobbered,
       .step = step,
       .tensors = tensors_of(a, b),
       .region = map_.region_of(b.place),
       .bytes = bytes,
       .message =
           name_of(subject_, step) + " writes both " + name(a) + " and " + name(b) + " into " + where(bytes, b.place)});
}

void Messages::written_over_operand(StepId step, ValueId operand, const Access& access, const std::string& why) const {
  const Place& place = map_.place(operand);
  const Interval<std::int64_t> bytes = common_bytes(place, access.place);
  Violation violation{
      .step = step, .tensors = {tensor(operand)}, .region = map_.region_of(place), .bytes = bytes, .message = {}};
  if (access.value) {
    violation.kind = ViolationKind::bad_in_place;
    violation.tensors.push_back(tensor(*access.value));
    violation.message = name_of(subject_, step) + " writes " + name(access) + " over " + name(operand) + " in " +
                        where(bytes, place) + ": " + why;
  } else {
    violation.kind = ViolationKind::clobbered;
    violation.message =
        name_of(subject_, step) + " has scratch in " + where(bytes, place) + ", where it reads " + name(operand);
  }
  add(std::move(violation));
}

void Messages::add_alias(StepId step, const std::string& message) const {
  add({.kind = ViolationKind::bad_alias, .step = step, .message = name_of(subject_, step) + " " + message});
}

void Messages::alias_with_scratch(StepId step) const { add_alias(step, "is an alias, which needs no scratch"); }

void Messages::not_an_alias(StepId step, const std::string& why) const {
  add_alias(step, "cannot be an alias: " + why);
}

void Messages::part_elsewhere(StepId step, const SameBytes& part, ValueId input, ValueId output) const {
  const Place& from = map_.place(input);
  const Place& to = map_.place(output);
  const std::int64_t begin = to.bytes.begin + part.output_begin;
  const std::int64_t expected = from.bytes.begin + part.input_begin;
  const Interval<std::int64_t> bytes{begin, begin + part.length};
  add({.kind = ViolationKind::bad_alias,
       .step = step,
       .tensors = {part.input, part.output},
       .region = map_.region_of(to),
       .bytes = bytes,
       .message = name_of(subject_, step) + " is an alias, so " + where(bytes, to) + " of " + name(output) +
                  " must be " + where({expected, expected + part.length}, from) + ", where " + name(input) + " is"});
}

void Messages::short_lived_output(ValueId output, const Lifespan& life) const {
  const BufferId buffer = plan_.layout.values[output].buffer;
  add({.kind = ViolationKind::output_lost,
       .tensors = {tensor(output)},
       .message = name_of(subject_, buffer) + " of output " + name(output) + " is live only until step " +
                  std::to_string(life.end.value()) + ", but must be live until the end, step " +
                  std::to_string(subject_.steps())});
}

void Messages::outputs_share_bytes(ValueId a, ValueId b) const {
  const Place& place = map_.place(b);
  const Interval<std::int64_t> bytes = common_bytes(map_.place(a), place);
  add({.kind = ViolationKind::overlap,
       .tensors = {tensor(a), tensor(b)},
       .region = map_.region_of(place),
       .bytes = bytes,
       .message = "outputs " + name(a) + " and " + name(b) + " share " + where(bytes, place)});
}

void Messages::state_without_place(TensorId state) const {
  add({.kind = ViolationKind::output_lost,
       .tensors = {state},
       .message = "state " + name_of(subject_, state) + " has no place"});
}

void Messages::update_elsewhere(TensorId state, ValueId next) const {
  const Place& place = map_.place(next);
  add({.kind = ViolationKind::output_lost,
       .tensors = {state},
       .message = name(next) + " should replace state " + name_of(subject_, state) + ", but is in " +
                  where(place.bytes, place)});
}

void Messages::no_wait_for_value(StepId step, ValueId read) const {
  add({.kind = ViolationKind::race,
       .step = step,
       .tensors = {tensor(read)},
       .message = name_of(subject_, step) + " reads " + name(read) + ", but does not wait for " +
                  name_of(subject_, *plan_.program.values[read].written) + ", which writes it"});
}

void Messages::no_wait_for_control(StepId step, StepId before) const {
  add({.kind = ViolationKind::race,
       .step = step,
       .message =
           name_of(subject_, step) + " must run after " + name_of(subject_, before) + ", but does not wait for it"});
}

void Messages::race(StepId earlier, const Access& first, StepId later, const Access& second) const {
  const auto use = [&](const Access& access) {
    return access.value ? (access.is_write ? "writes " : "reads ") + name(access) : std::string("has its scratch");
  };
  const Interval<std::int64_t> bytes = common_bytes(first.place, second.place);
  add({.kind = ViolationKind::race,
       .step = later,
       .tensors = tensors_of(first, second),
       .region = map_.region_of(second.place),
       .bytes = bytes,
       .message = name_of(subject_, earlier) + " and " + name_of(subject_, later) +
                  " may run at the same time: the first " + use(first) + ", the second " + use(second) + " in " +
                  where(bytes, second.place)});
}

}  // namespace lowtide::verify_internal
