// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/verify/stages.h"

namespace lowtide::verification {
namespace {

void malformed(const Subject& subject, std::string message, std::optional<StepId> step = std::nullopt) {
  subject.findings.add({.kind = ViolationKind::malformed, .step = step, .message = std::move(message)});
}

std::string out_of_range(const std::string& holder, const char* what, std::uint32_t id, std::size_t count) {
  return holder + " names " + what + " " + std::to_string(id) + ", but there are only " + std::to_string(count);
}

// Counts of 2^32 and more would make ids wrap.
void check_counts(const Subject& subject) {
  const Plan& plan = subject.plan;
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (plan.program.size() >= kMost || plan.values.size() >= kMost || plan.buffers.size() >= kMost ||
      plan.regions.size() >= kMost) {
    malformed(subject, "the plan has more steps, values, buffers or regions than ids can tell apart");
  }
  if (plan.streams < 1 || plan.streams > limits::kMaxStreams) {
    malformed(subject, "the plan has " + std::to_string(plan.streams) + " streams; there are 1 to " +
                           std::to_string(limits::kMaxStreams) + " (kMaxStreams)");
  }
  if (plan.arena.size() != plan.regions.size()) {
    malformed(subject, "the plan has " + std::to_string(plan.regions.size()) + " regions, but arena sizes for " +
                           std::to_string(plan.arena.size()));
  }
  if (subject.is_body && plan.regions.size() != 1) {
    malformed(subject, "the plan of a body has " + std::to_string(plan.regions.size()) +
                           " regions; it must have one, the scratch bytes of its step");
  }
}

void check_regions(const Subject& subject) {
  std::int64_t left = limits::kMaxTotalBytes;
  for (std::size_t at = 0; at < subject.plan.regions.size() && !subject.findings.is_full(); ++at) {
    const Region& region = subject.plan.regions[at];
    const std::string name = "region " + std::to_string(at) + " " + quoted(region.name);
    const std::int64_t alignment = region.alignment.count();
    if (!is_power_of_two(alignment) || alignment > limits::kMaxAlignment) {
      malformed(subject, name + " has an alignment of " + std::to_string(alignment) +
                             "; it must be a power of two, at most " + std::to_string(limits::kMaxAlignment) +
                             " (kMaxAlignment)");
    }
    if (region.capacity && region.capacity->count() < 0) malformed(subject, name + " has a negative capacity");
    const std::int64_t arena = at < subject.plan.arena.size() ? subject.plan.arena[at].count() : 0;
    if (arena < 0 || arena > left) {
      malformed(subject, "the arena of " + name + " has " + std::to_string(arena) +
                             " bytes; all arenas together must have 0 to " + std::to_string(limits::kMaxTotalBytes) +
                             " (kMaxTotalBytes)");
      continue;
    }
    left -= arena;
  }
}

bool must_be_placed(BufferKind kind) {
  return kind == BufferKind::output || kind == BufferKind::temporary || kind == BufferKind::scratch;
}

// In order, from the first byte to the last, and together as long as the buffer.
void check_parts(const Subject& subject, const Buffer& buffer, const std::string& name) {
  if (buffer.parts.size() == 1) malformed(subject, name + " has one part; it must have none, or at least two");
  if (!buffer.placement) malformed(subject, name + " has parts, but no placement");
  if (buffer.kind != BufferKind::temporary && buffer.kind != BufferKind::output) {
    malformed(subject, name + " (" + std::string(to_string(buffer.kind)) +
                           ") has parts; only buffers that hold temporaries and outputs may");
  }
  std::int64_t left = buffer.size.count();
  Lifespan whole = buffer.parts.front().lifespan;
  for (const BufferPart& part : buffer.parts) {
    const std::int64_t size = part.size.count();
    if (size <= 0 || size > left) {
      return malformed(subject, name + " has a part of " + std::to_string(size) + " bytes where " +
                                    std::to_string(left) + " of its bytes are left");
    }
    if (part.lifespan.empty()) {
      return malformed(subject, name + " has a part that lives in steps [" +
                                    std::to_string(part.lifespan.begin.value()) + ", " +
                                    std::to_string(part.lifespan.end.value()) + "), which is empty");
    }
    left -= size;
    whole.begin = std::min(whole.begin, part.lifespan.begin);
    whole.end = std::max(whole.end, part.lifespan.end);
  }
  if (left != 0) malformed(subject, name + " has " + std::to_string(left) + " bytes that are in none of its parts");
  if (whole != buffer.lifespan) {
    malformed(subject, name + " lives in steps [" + std::to_string(buffer.lifespan.begin.value()) + ", " +
                           std::to_string(buffer.lifespan.end.value()) + "), its parts together in [" +
                           std::to_string(whole.begin.value()) + ", " + std::to_string(whole.end.value()) + ")");
  }
}

void check_buffer(const Subject& subject, BufferId id, std::int64_t& left) {
  const Buffer& buffer = subject.plan.buffers[id];
  const std::string name = "buffer " + std::to_string(id.value());
  if (static_cast<unsigned>(buffer.kind) > static_cast<unsigned>(BufferKind::scratch)) {
    return malformed(subject, name + " has no known kind");
  }
  if (buffer.size.count() < 0 || buffer.size.count() > left) {
    malformed(subject, name + " has " + std::to_string(buffer.size.count()) +
                           " bytes; all buffers together must have 0 to " + std::to_string(limits::kMaxTotalBytes) +
                           " (kMaxTotalBytes)");
  } else {
    left -= buffer.size.count();
  }
  const auto steps = static_cast<std::uint32_t>(subject.steps());
  const bool may_be_empty = steps == 0;
  const Lifespan& life = buffer.lifespan;
  if (life.end < life.begin || life.end.value() > steps || (life.empty() && !may_be_empty)) {
    malformed(subject, name + " lives in steps [" + std::to_string(life.begin.value()) + ", " +
                           std::to_string(life.end.value()) + "), which is empty or not within the " +
                           std::to_string(steps) + " steps of the program");
  }
  if (!buffer.parts.empty()) check_parts(subject, buffer, name);
  if (!buffer.placement && must_be_placed(buffer.kind)) {
    malformed(subject, name + " (" + std::string(to_string(buffer.kind)) + ") has no placement");
  }
  if (buffer.placement && buffer.placement->region.index() >= subject.plan.regions.size()) {
    malformed(subject, out_of_range(name, "region", buffer.placement->region.value(), subject.plan.regions.size()));
  }
}

void check_value(const Subject& subject, ValueId id) {
  const Plan& plan = subject.plan;
  const Value& value = plan.values[id];
  const std::string name = "value " + std::to_string(id.value());
  if (!subject.graph.tensors().contains(value.tensor)) {
    malformed(subject, out_of_range(name, "tensor", value.tensor.value(), subject.graph.tensors().size()));
  }
  if (!plan.buffers.contains(value.buffer)) {
    malformed(subject, out_of_range(name, "buffer", value.buffer.value(), plan.buffers.size()));
  }
  if (value.written && !plan.program.contains(*value.written)) {
    malformed(subject, out_of_range(name, "step", value.written->value(), plan.program.size()));
  }
}

void check_body_list(const Subject& subject, StepId id) {
  const Step& step = subject.plan.program[id];
  const std::vector<Body>& bodies = subject.graph.node(step.node).bodies;
  if (step.bodies.size() != bodies.size()) {
    return malformed(subject,
                     name_of(subject, id) + " plans " + std::to_string(step.bodies.size()) + " bodies, its node has " +
                         std::to_string(bodies.size()),
                     id);
  }
  for (std::size_t at = 0; at < bodies.size(); ++at) {
    if (step.bodies[at].plan == nullptr || step.bodies[at].body != bodies[at].name) {
      malformed(subject,
                name_of(subject, id) + " has no plan for body " + quoted(bodies[at].name) + " at its place " +
                    std::to_string(at),
                id);
    }
  }
}

// Waits for earlier steps only: so nothing waits for itself, through however many others.
void check_waits(const Subject& subject, StepId id) {
  const Plan& plan = subject.plan;
  const Step& step = plan.program[id];
  const std::string name = "step " + std::to_string(id.value());
  if (step.stream >= plan.streams) malformed(subject, out_of_range(name, "stream", step.stream, plan.streams), id);
  for (std::size_t at = 0; at < step.after.size(); ++at) {
    const StepId before = step.after[at];
    const std::string waits = name + " waits for step " + std::to_string(before.value());
    if (before >= id) {
      malformed(subject, waits + ", which does not come before it", id);
    } else if (plan.program[before].stream == step.stream) {
      malformed(subject, waits + " of its own stream", id);
    } else if (at > 0 && before <= step.after[at - 1]) {
      malformed(subject,
                waits + " after step " + std::to_string(step.after[at - 1].value()) +
                    "; waits are listed in order, each once",
                id);
    }
  }
}

void check_step(const Subject& subject, StepId id) {
  const Plan& plan = subject.plan;
  const Step& step = plan.program[id];
  const std::string name = "step " + std::to_string(id.value());
  if (!subject.graph.nodes().contains(step.node)) {
    return malformed(subject, out_of_range(name, "node", step.node.value(), subject.graph.nodes().size()), id);
  }
  if (step.kind != StepKind::compute && step.kind != StepKind::alias)
    malformed(subject, name + " has no known kind", id);
  for (const std::vector<ValueId>* list : {&step.reads, &step.writes}) {
    for (ValueId value : *list) {
      if (!plan.values.contains(value))
        malformed(subject, out_of_range(name, "value", value.value(), plan.values.size()), id);
    }
  }
  check_waits(subject, id);
  if (step.scratch && !plan.buffers.contains(*step.scratch)) {
    malformed(subject, out_of_range(name, "buffer", step.scratch->value(), plan.buffers.size()), id);
  }
  check_body_list(subject, id);
}

}  // namespace

bool check_form(const Subject& subject) {
  const std::size_t before = subject.findings.count();
  const auto go_on = [&] { return !subject.findings.is_full(); };
  check_counts(subject);
  if (subject.findings.count() > before) return false;
  check_regions(subject);
  std::int64_t left = limits::kMaxTotalBytes;
  for (std::size_t at = 0; at < subject.plan.buffers.size() && go_on(); ++at) {
    check_buffer(subject, BufferId(static_cast<std::uint32_t>(at)), left);
  }
  for (std::size_t at = 0; at < subject.plan.values.size() && go_on(); ++at) {
    check_value(subject, ValueId(static_cast<std::uint32_t>(at)));
  }
  for (std::size_t at = 0; at < subject.steps() && go_on(); ++at) {
    check_step(subject, StepId(static_cast<std::uint32_t>(at)));
  }
  // Full: not everything was looked at.
  return subject.findings.count() == before && go_on();
}

void check_provenance(const Subject& subject) {
  const Provenance& from = subject.plan.provenance;
  const Graph& graph = subject.graph;
  const auto nodes = static_cast<std::int64_t>(graph.nodes().size());
  const auto tensors = static_cast<std::int64_t>(graph.tensors().size());
  if (from.graph == graph.name() && from.nodes == nodes && from.tensors == tensors) return;
  subject.findings.add({.kind = ViolationKind::wrong_model,
                        .message = "the plan was made for graph " + quoted(from.graph) + " with " +
                                   std::to_string(from.nodes) + " nodes and " + std::to_string(from.tensors) +
                                   " tensors; this is " + quoted(graph.name()) + " with " + std::to_string(nodes) +
                                   " and " + std::to_string(tensors) + ": plan it again"});
}

void check_body_provenance(const Subject& around, const Plan& body) {
  const Provenance& outer = around.plan.provenance;
  const Provenance& inner = body.provenance;
  std::string differing;
  const auto compare = [&](bool is_same, const char* key) {
    if (!is_same) differing += (differing.empty() ? "" : ", ") + std::string(key);
  };
  compare(inner.model_sha256 == outer.model_sha256, "model_sha256");
  compare(inner.tool == outer.tool, "tool");
  compare(inner.dims == outer.dims, "dims");
  compare(inner.target == outer.target, "target");
  if (differing.empty()) return;
  around.findings.add({.kind = ViolationKind::wrong_model,
                       .message = "the plan of this body has another provenance than the plan around it (" + differing +
                                  "): plan the model again"});
}

}  // namespace lowtide::verification
