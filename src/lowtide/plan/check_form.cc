// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/check_form.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/limits.h"

namespace lowtide {
namespace {

// A place in a plan file: "steps[3].reads[0]". Its text is made only for a fault, because a plan has many places.
// A part of a place must not outlive it.
class FormPlace {
 public:
  FormPlace(const char* name) : name_(name) {}  // NOLINT(google-explicit-constructor): `fault("streams", message)`
  FormPlace(const char* name, std::optional<std::size_t> index) : name_(name), index_(index) {}

  [[nodiscard]] FormPlace part(const char* name, std::optional<std::size_t> index = std::nullopt) const {
    FormPlace inner(name, index);
    inner.whole_ = this;
    return inner;
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const FormPlace* place = this; place != nullptr; place = place->whole_) {
      if (place->index_) text.insert(0, "[" + std::to_string(*place->index_) + "]");
      text.insert(0, place->name_);
    }
    return text;
  }

 private:
  const FormPlace* whole_ = nullptr;
  std::string_view name_;
  std::optional<std::size_t> index_;
};

std::string steps_text(const Lifespan& life) {
  return "[" + std::to_string(life.begin.value()) + ", " + std::to_string(life.end.value()) + ")";
}

bool must_be_placed(BufferKind kind) {
  return kind == BufferKind::output || kind == BufferKind::temporary || kind == BufferKind::scratch;
}

class FormCheck {
 public:
  FormCheck(const Plan& plan, const GraphCounts& graph, std::int64_t& total_bytes, std::size_t most)
      : plan_(plan), graph_(graph), total_(total_bytes), most_(most) {}

  std::vector<FormFault> check() && {
    if (!check_counts()) return std::move(faults_);
    check_machine();
    check_words();
    check_arenas();
    check_streams();
    for_each_row(plan_.layout.buffers.size(), [&](std::size_t at) { check_buffer(at); });
    for_each_row(plan_.program.values.size(), [&](std::size_t at) { check_value(at); });
    for_each_row(plan_.program.steps.size(), [&](std::size_t at) { check_step(at); });
    check_values_of("outputs", plan_.program.outputs);
    check_values_of("updates", plan_.program.updates);
    return std::move(faults_);
  }

 private:
  [[nodiscard]] bool is_full() const { return faults_.size() >= most_; }

  template <typename Check>
  void for_each_row(std::size_t count, Check check) {
    for (std::size_t at = 0; at < count && !is_full(); ++at) check(at);
  }

  void fault(const FormPlace& path, std::string message, std::optional<StepId> step = std::nullopt) {
    if (!is_full()) faults_.push_back({path.text(), step, std::move(message)});
  }

  // Returns whether a table with `count` entries has the entry `id`.
  bool check_id(const FormPlace& path, const char* what, std::uint32_t id, std::size_t count,
                std::optional<StepId> step = std::nullopt) {
    if (id < count) return true;
    fault(path,
          std::string(what) + " " + std::to_string(id) + " does not exist; the number of " + what + "s is " +
              std::to_string(count),
          step);
    return false;
  }

  void check_length(const char* path, std::size_t found, std::size_t expected, const char* of) {
    if (found == expected) return;
    fault(path, "has length " + std::to_string(found) + "; it needs " + std::to_string(expected) +
                    ", one entry for each of the " + of);
  }

  // Returns false if a table is too long for ids of 32 bits, or if tables with one entry per id differ in length.
  bool check_counts() {
    constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
    const Program& program = plan_.program;
    const Layout& layout = plan_.layout;
    if (std::max({program.steps.size(), program.values.size(), program.streams.size(), layout.buffers.size(),
                  plan_.machine.regions.size(), plan_.kernels.size()}) >= kMost) {
      fault("steps", "the plan has more steps, values, streams, buffers, regions or kernels than ids can count");
    }
    check_length("arena", layout.arena.size(), plan_.machine.regions.size(), "regions");
    check_length("values", layout.values.size(), program.values.size(), "values");
    check_length("steps", layout.steps.size(), program.steps.size(), "steps");
    if (graph_.is_body && plan_.machine.regions.size() != 1) {
      fault("machine.regions", "the plan of a body has " + std::to_string(plan_.machine.regions.size()) +
                                   " regions; it must have one, the scratch bytes of its step");
    }
    return faults_.empty();
  }

  void check_machine() {
    if (plan_.machine.workers.empty()) fault("machine.workers", "is empty; a machine has at least one worker");
    for_each_row(plan_.machine.regions.size(), [&](std::size_t at) { check_region(at); });
    if (plan_.machine.constants) {
      check_id("machine.constants", "region", plan_.machine.constants->value(), plan_.machine.regions.size());
      if (graph_.is_body) fault("machine.constants", "belongs to the plan of a body; only the plan of a model has it");
    }
    for_each_row(plan_.machine.links.size(), [&](std::size_t at) { check_link(at); });
    for_each_row(plan_.machine.workers.size(), [&](std::size_t at) { check_worker(at); });
  }

  void check_region(std::size_t at) {
    const Region& region = plan_.machine.regions[at];
    const FormPlace path("machine.regions", at);
    const std::int64_t alignment = region.alignment.count();
    if (!is_power_of_two(alignment) || alignment > limits::kMaxAlignment) {
      fault(path.part(".alignment"), std::to_string(alignment) + " is not a power of two of at most " +
                                         std::to_string(limits::kMaxAlignment) + " (kMaxAlignment)");
    }
    if (region.capacity && region.capacity->count() < 0) {
      fault(path.part(".capacity"), std::to_string(region.capacity->count()) + " is negative");
    }
  }

  void check_link(std::size_t at) {
    const Link& link = plan_.machine.links[LinkId(static_cast<std::uint32_t>(at))];
    const FormPlace path("machine.links", at);
    check_id(path.part(".from"), "region", link.from.value(), plan_.machine.regions.size());
    check_id(path.part(".to"), "region", link.to.value(), plan_.machine.regions.size());
    if (link.from == link.to) fault(path, "leads from a region to the same region");
    if (link.bytes_per_second <= 0) fault(path.part(".bytes_per_second"), "is not positive");
    if (link.latency_picoseconds < 0) fault(path.part(".latency_picoseconds"), "is negative");
  }

  void check_worker(std::size_t at) {
    const Worker& worker = plan_.machine.workers[WorkerId(static_cast<std::uint32_t>(at))];
    const FormPlace path("machine.workers", at);
    if (worker.count < 1) fault(path.part(".count"), "is not positive");
    for (std::size_t region = 0; region < worker.addressable.size(); ++region) {
      const FormPlace entry = path.part(".addressable", region);
      check_id(entry, "region", worker.addressable[region].value(), plan_.machine.regions.size());
      if (region > 0 && worker.addressable[region - 1] >= worker.addressable[region]) {
        fault(entry, "regions must be listed in ascending order, each once");
      }
    }
  }

  // In a plan that was not read from a file, an enum may hold any number.
  void check_words() {
    if (!is_named(plan_.execution)) {
      fault("execution", "is not an execution model");
    }
    for_each_row(plan_.claims.bounds.size(), [&](std::size_t at) {
      if (!is_named(plan_.claims.bounds[at].scope))
        fault(FormPlace("claims.bounds", at).part(".scope"), "is not a scope");
    });
  }

  void add_to_total(const FormPlace& path, Bytes bytes) {
    if (bytes.count() < 0 || bytes.count() > limits::kMaxTotalBytes - total_) {
      fault(path, "is " + std::to_string(bytes.count()) +
                      " bytes; sizes must not be negative, and all arenas and buffers must add up to at most " +
                      std::to_string(limits::kMaxTotalBytes) + " (kMaxTotalBytes)");
      return;
    }
    total_ += bytes.count();
  }

  void check_arenas() {
    for_each_row(plan_.layout.arena.size(),
                 [&](std::size_t at) { add_to_total(FormPlace("arena", at), plan_.layout.arena[at]); });
  }

  void check_streams() {
    const std::size_t count = plan_.program.streams.size();
    if (count < 1 || count > limits::kMaxStreams) {
      fault("streams", "the plan has " + std::to_string(count) + " streams; it must have 1 to " +
                           std::to_string(limits::kMaxStreams) + " (kMaxStreams)");
    }
    Flags<LinkId> is_driven(plan_.machine.links.size());
    for_each_row(count, [&](std::size_t at) {
      const Stream& stream = plan_.program.streams[StreamId(static_cast<std::uint32_t>(at))];
      const FormPlace path("streams", at);
      if (stream.worker.has_value() == stream.link.has_value()) {
        fault(path, "has " + std::string(stream.worker ? "both a worker and a link" : "neither a worker nor a link") +
                        "; it needs exactly one of them");
      }
      if (stream.worker) check_id(path.part(".worker"), "worker", stream.worker->value(), plan_.machine.workers.size());
      if (!stream.link || !check_id(path.part(".link"), "link", stream.link->value(), plan_.machine.links.size()))
        return;
      if (!is_driven.insert(*stream.link)) {
        fault(path.part(".link"), "link " + std::to_string(stream.link->value()) +
                                      " already drives an earlier stream; a link drives at most one");
      }
    });
  }

  void check_buffer(std::size_t at) {
    const Buffer& buffer = plan_.layout.buffers[BufferId(static_cast<std::uint32_t>(at))];
    const FormPlace path("buffers", at);
    if (!is_named(buffer.kind)) {
      return fault(path.part(".kind"), "is not a kind of buffer");
    }
    add_to_total(path.part(".bytes"), buffer.size);
    check_lifespan(path, buffer.lifespan);
    if (!buffer.parts.empty()) check_parts(path.part(".parts"), buffer);
    if (!buffer.placement && must_be_placed(buffer.kind)) {
      fault(path, "a buffer of kind " + std::string(to_string(buffer.kind)) + " has no placement");
    }
    if (buffer.placement && buffer.home)
      fault(path.part(".region"), "a buffer with a placement must not have a home region");
    const std::optional<RegionId> region = buffer.placement ? buffer.placement->region : buffer.home;
    if (region) check_id(path.part(".region"), "region", region->value(), plan_.machine.regions.size());
  }

  void check_lifespan(const FormPlace& path, const Lifespan& life) {
    const auto steps = static_cast<std::uint32_t>(plan_.program.steps.size());
    if (life.end < life.begin || life.end.value() > steps || (life.empty() && steps > 0)) {
      fault(path.part(".end"), "is live in steps " + steps_text(life) + ", which is empty or not within the " +
                                   std::to_string(steps) + " steps of the program");
    }
  }

  void check_parts(const FormPlace& path, const Buffer& buffer) {
    if (buffer.parts.size() == 1) fault(path, "has one part; a buffer has none, or at least two");
    if (!buffer.placement) fault(path, "belongs to a buffer without placement; only placed buffers have parts");
    if (buffer.kind != BufferKind::temporary && buffer.kind != BufferKind::output) {
      fault(path, "belongs to a buffer of kind " + std::string(to_string(buffer.kind)) +
                      "; only temporary and output buffers have parts");
    }
    std::int64_t left = buffer.size.count();
    Lifespan whole = buffer.parts.front().lifespan;
    for (std::size_t at = 0; at < buffer.parts.size(); ++at) {
      const BufferPart& part = buffer.parts[at];
      const std::int64_t size = part.size.count();
      const FormPlace here = path.part("", at);
      if (size <= 0 || size > left) {
        return fault(here.part(".bytes"),
                     "is " + std::to_string(size) + ", but " + std::to_string(left) + " bytes of the buffer are left");
      }
      if (part.lifespan.empty())
        return fault(here, "is live in steps " + steps_text(part.lifespan) + ", which is empty");
      left -= size;
      whole = {std::min(whole.begin, part.lifespan.begin), std::max(whole.end, part.lifespan.end)};
    }
    if (left != 0) fault(path, "do not cover the last " + with_count(left, "byte") + " of the buffer");
    if (whole != buffer.lifespan) {
      fault(path,
            "are live in steps " + steps_text(whole) + ", but the buffer is live in " + steps_text(buffer.lifespan));
    }
  }

  void check_value(std::size_t at) {
    const ValueId id(static_cast<std::uint32_t>(at));
    const Value& value = plan_.program.values[id];
    const FormPlace path("values", at);
    check_id(path.part(".tensor"), "tensor", value.tensor.value(), graph_.tensors);
    if (value.written) check_id(path.part(".written"), "step", value.written->value(), plan_.program.steps.size());
    check_id(path.part(".buffer"), "buffer", plan_.layout.values[id].buffer.value(), plan_.layout.buffers.size());
  }

  void check_step(std::size_t at) {
    const StepId id(static_cast<std::uint32_t>(at));
    const Step& step = plan_.program.steps[id];
    const StepSpace& space = plan_.layout.steps[id];
    const FormPlace path("steps", at);
    check_work(path, id);
    check_value_list(path.part(".reads"), step.reads, id);
    check_value_list(path.part(".writes"), step.writes, id);
    if (check_id(path.part(".stream"), "stream", step.stream.value(), plan_.program.streams.size(), id))
      check_waits(path, id);
    if (space.scratch)
      check_id(path.part(".scratch"), "buffer", space.scratch->value(), plan_.layout.buffers.size(), id);
    if (!is_compute(step) && !space.bodies.empty()) fault(path, "runs bodies, but computes nothing", id);
    const auto has_no_plan = [](const BodyPlan& body) { return body.plan == nullptr; };
    if (std::any_of(space.bodies.begin(), space.bodies.end(), has_no_plan)) fault(path, "a body has no plan", id);
  }

  void check_work(const FormPlace& path, StepId id) {
    const Step& step = plan_.program.steps[id];
    if (const std::optional<NodeId> node = node_of(step)) {
      check_id(path.part(".node"), "node", node->value(), graph_.nodes, id);
    }
    if (const Compute* compute = std::get_if<Compute>(&step.work)) {
      check_id(path.part(".kernel"), "kernel", compute->kernel.value(), plan_.kernels.size(), id);
    }
    const Copy* copy = std::get_if<Copy>(&step.work);
    if (copy == nullptr) return;
    if (copy->bytes.begin < 0 || copy->bytes.end < copy->bytes.begin) {
      fault(path.part(".bytes"),
            "[" + std::to_string(copy->bytes.begin) + ", " + std::to_string(copy->bytes.end) +
                ") is not a range of bytes",
            id);
    }
    if (step.reads.size() != 1 || step.writes.size() != 1) {
      fault(path,
            "a copy reads one value and writes one, not " + std::to_string(step.reads.size()) + " and " +
                std::to_string(step.writes.size()),
            id);
    }
    if (plan_.layout.steps[id].scratch) fault(path.part(".scratch"), "a copy has no scratch", id);
  }

  void check_value_list(const FormPlace& path, const std::vector<ValueId>& values, std::optional<StepId> step) {
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (values[at].index() < plan_.program.values.size()) continue;
      check_id(path.part("", at), "value", values[at].value(), plan_.program.values.size(), step);
    }
  }

  void check_values_of(const char* table, const std::vector<ValueId>& values) {
    check_value_list(table, values, std::nullopt);
  }

  // Steps wait only for earlier steps, so there is no cycle.
  void check_waits(const FormPlace& path, StepId id) {
    const Step& step = plan_.program.steps[id];
    for (std::size_t at = 0; at < step.after.size(); ++at) {
      const StepId before = step.after[at];
      const FormPlace here = path.part(".after", at);
      const std::string name = "step " + std::to_string(before.value());
      if (before >= id) {
        fault(here, name + " does not come before step " + std::to_string(id.value()) + ", which waits for it", id);
      } else if (plan_.program.steps[before].stream == step.stream) {
        fault(here, name + " is in the same stream, whose steps run in order anyway", id);
      } else if (at > 0 && before <= step.after[at - 1]) {
        fault(here,
              name + " does not follow step " + std::to_string(step.after[at - 1].value()) +
                  "; waits must be listed in ascending order, each once",
              id);
      }
    }
  }

  const Plan& plan_;
  const GraphCounts& graph_;
  std::int64_t& total_;
  const std::size_t most_;
  std::vector<FormFault> faults_;
};

}  // namespace

std::vector<FormFault> check_form(const Plan& plan, const GraphCounts& graph, std::int64_t& total_bytes,
                                  std::size_t most) {
  return FormCheck(plan, graph, total_bytes, most).check();
}

}  // namespace lowtide
