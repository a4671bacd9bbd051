// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <optional>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/base/json_writer.h"
#include "lowtide/graph/text.h"
#include "lowtide/plan/plan_form.h"
#include "lowtide/plan/plan_json.h"

namespace lowtide {
namespace {

namespace form = plan_internal::plan_form;
using Lines = JsonWriter::Layout;

// The labels of a graph and of the bodies inside it, and their plans. A parent comes before its bodies.
struct LabelEntry {
  const Labels* labels;
  std::optional<std::size_t> parent;
  const Labels::BodyLabels* body;
};
struct PlanEntry {
  const Plan* plan;
  std::optional<std::size_t> parent;
  StepId step;
  const BodyPlan* body;
};

std::vector<LabelEntry> all_labels(const Labels& root) {
  std::vector<LabelEntry> entries = {{&root, std::nullopt, nullptr}};
  for (std::size_t at = 0; at < entries.size(); ++at) {
    for (const Labels::BodyLabels& body : entries[at].labels->bodies) entries.push_back({&body.labels, at, &body});
  }
  return entries;
}

std::vector<PlanEntry> all_plans(const Plan& root) {
  std::vector<PlanEntry> entries = {{&root, std::nullopt, StepId(), nullptr}};
  for (std::size_t at = 0; at < entries.size(); ++at) {
    const Plan& plan = *entries[at].plan;
    for (StepId step : all_ids<StepId>(plan.layout.steps.size())) {
      for (const BodyPlan& body : plan.layout.steps[step].bodies) {
        LOWTIDE_CHECK(body.plan != nullptr, "a step's body has a plan");
        entries.push_back({body.plan.get(), at, step, &body});
      }
    }
  }
  return entries;
}

class PlanWriter {
 public:
  explicit PlanWriter(std::string& out) : json_(out) {}

  void write(const Plan& plan, const Labels& labels) {
    json_.begin_object(Lines::lines);
    json_.member("format", form::kFormat);
    json_.member("schema_version", form::kSchemaVersion);
    json_.key("features");
    write_names(features_of(all_plans_in(plan)));
    write_columns();
    write_head(plan);
    write_labels(labels);
    write_tables(plan);
    write_bodies(labels);
    write_body_plans(plan);
    json_.end_object();
  }

 private:
  void write_columns() {
    json_.key("columns");
    json_.begin_object(Lines::lines);
    for (std::size_t table = 0; table < form::kTables.size(); ++table) {
      json_.key(form::kTables[table]);
      write_names(form::kColumns[table]);
    }
    json_.end_object();
  }

  void write_head(const Plan& plan) {
    const Provenance& provenance = plan.provenance;
    json_.key("provenance");
    json_.begin_object();
    json_.member("tool", provenance.tool);
    json_.member("model", provenance.model);
    json_.member("model_sha256", provenance.model_sha256);
    json_.member("graph", provenance.graph);
    json_.member("nodes", provenance.nodes);
    json_.member("tensors", provenance.tensors);
    json_.key("lowering");
    write_names(provenance.lowering);
    json_.key("dims");
    write_names(provenance.dims);
    json_.member("target", provenance.target);
    if (!provenance.machine_key.empty()) {
      json_.key("machine_key");
      write_names(provenance.machine_key);
    }
    json_.end_object();
    write_machine(plan.machine);
    json_.member("execution", to_string(plan.execution));
    json_.key("kernels");
    json_.begin_array();
    for (const PlannedKernel& kernel : plan.kernels) json_.value(kernel.name);
    json_.end_array();
    json_.key("arena");
    json_.begin_array();
    for (Bytes bytes : plan.layout.arena) json_.value(bytes);
    json_.end_array();
    write_claims(plan.claims);
  }

  void write_machine(const Machine& machine) {
    json_.key("machine");
    json_.begin_object(Lines::lines);
    json_.key("regions");
    json_.begin_array(Lines::lines);
    for (const Region& region : machine.regions) {
      json_.begin_object();
      json_.member("name", region.name);
      json_.key("capacity");
      write_optional(region.capacity);
      json_.member("alignment", region.alignment);
      if (region.is_read_only) json_.member("read_only", true);
      json_.end_object();
    }
    json_.end_array();
    json_.key("links");
    json_.begin_array(Lines::lines);
    for (const Link& link : machine.links) {
      json_.begin_object();
      json_.key("from");
      write_id(link.from);
      json_.key("to");
      write_id(link.to);
      json_.member("bytes_per_second", link.bytes_per_second);
      json_.member("latency_picoseconds", link.latency_picoseconds);
      json_.end_object();
    }
    json_.end_array();
    json_.key("workers");
    json_.begin_array(Lines::lines);
    for (const Worker& worker : machine.workers) {
      json_.begin_object();
      json_.member("name", worker.name);
      json_.member("count", std::int64_t{worker.count});
      json_.key("addressable");
      write_ids(worker.addressable);
      json_.end_object();
    }
    json_.end_array();
    if (machine.constants) {
      json_.key("constants");
      write_id(*machine.constants);
    }
    json_.end_object();
  }

  void write_claims(const Claims& claims) {
    json_.key("claims");
    json_.begin_object();
    json_.member("load_as_given", claims.load_as_given);
    json_.member("load", claims.load);
    json_.key("bounds");
    json_.begin_array();
    for (const Bound& bound : claims.bounds) {
      json_.begin_object();
      json_.member("scope", to_string(bound.scope));
      json_.member("bytes", bound.bytes);
      json_.member("name", bound.name);
      json_.end_object();
    }
    json_.end_array();
    json_.member("schedule", claims.schedule);
    json_.member("schedule_optimal", claims.schedule_optimal);
    json_.member("allocate", claims.allocate);
    json_.member("allocate_optimal", claims.allocate_optimal);
    json_.member("shortfall", claims.shortfall);
    json_.key("uncounted");
    write_names(claims.uncounted);
    json_.end_object();
  }

  void write_labels(const Labels& labels) {
    json_.key("nodes");
    json_.begin_array(Lines::lines);
    for (const NodeLabel& node : labels.nodes) {
      json_.begin_array();
      json_.value(node.name);
      json_.value(node.op);
      json_.end_array();
    }
    json_.end_array();
    json_.key("tensors");
    json_.begin_array(Lines::lines);
    for (const TensorLabel& tensor : labels.tensors) {
      json_.begin_array();
      json_.value(tensor.name);
      json_.value(print_tensor_type(tensor.dtype, tensor.shape));
      json_.value(to_string(tensor.role));
      json_.value(tensor.size);
      json_.end_array();
    }
    json_.end_array();
  }

  void write_tables(const Plan& plan) {
    const Program& program = plan.program;
    json_.key("streams");
    json_.begin_array(Lines::lines);
    for (const Stream& stream : program.streams) {
      json_.begin_array();
      write_optional(stream.worker);
      write_optional(stream.link);
      json_.end_array();
    }
    json_.end_array();
    json_.key("buffers");
    json_.begin_array(Lines::lines);
    for (const Buffer& buffer : plan.layout.buffers) write_buffer(buffer);
    json_.end_array();
    json_.key("values");
    json_.begin_array(Lines::lines);
    for (ValueId id : all_ids<ValueId>(program.values.size())) {
      json_.begin_array();
      write_id(program.values[id].tensor);
      write_optional(program.values[id].written);
      write_id(plan.layout.values[id].buffer);
      json_.value(plan.layout.values[id].offset);
      json_.end_array();
    }
    json_.end_array();
    json_.key("steps");
    json_.begin_array(Lines::lines);
    for (StepId id : all_ids<StepId>(program.steps.size()))
      write_step(program.steps[id], plan.layout.steps[id].scratch);
    json_.end_array();
    json_.key("outputs");
    write_ids(program.outputs);
    json_.key("updates");
    write_ids(program.updates);
  }

  // The region of a buffer without placement is its home region, if it is known.
  void write_buffer(const Buffer& buffer) {
    json_.begin_array();
    json_.value(to_string(buffer.kind));
    json_.value(buffer.size);
    write_id(buffer.lifespan.begin);
    write_id(buffer.lifespan.end);
    if (buffer.placement) {
      write_id(buffer.placement->region);
      json_.value(buffer.placement->offset);
    } else {
      write_optional(buffer.home);
      json_.null();
    }
    write_parts(buffer.parts);
    json_.end_array();
  }

  void write_parts(const std::vector<BufferPart>& parts) {
    json_.begin_array();
    for (const BufferPart& part : parts) {
      json_.begin_array();
      json_.value(part.size);
      write_id(part.lifespan.begin);
      write_id(part.lifespan.end);
      json_.end_array();
    }
    json_.end_array();
  }

  void write_step(const Step& step, std::optional<BufferId> scratch) {
    json_.begin_array();
    json_.value(kind_name(step));
    write_optional(node_of(step));
    const Compute* compute = std::get_if<Compute>(&step.work);
    compute != nullptr ? write_id(compute->kernel) : json_.null();
    if (const Copy* copy = std::get_if<Copy>(&step.work)) {
      json_.begin_array();
      json_.value(copy->bytes.begin);
      json_.value(copy->bytes.end);
      json_.end_array();
    } else {
      json_.null();
    }
    write_ids(step.reads);
    write_ids(step.writes);
    write_optional(scratch);
    write_id(step.stream);
    write_ids(step.after);
    json_.end_array();
  }

  void write_parent(std::optional<std::size_t> parent) {
    json_.key("parent");
    if (*parent == 0) {
      json_.null();
    } else {
      json_.value(static_cast<std::int64_t>(*parent - 1));  // the root is not in the list
    }
  }

  void write_bodies(const Labels& root) {
    json_.key("bodies");
    json_.begin_array(Lines::lines);
    for (const LabelEntry& entry : all_labels(root)) {
      if (!entry.parent) continue;
      json_.begin_object(Lines::lines);
      write_parent(entry.parent);
      json_.key("node");
      write_id(entry.body->node);
      json_.member("body", entry.body->body);
      write_labels(*entry.labels);
      json_.end_object();
    }
    json_.end_array();
  }

  void write_body_plans(const Plan& root) {
    json_.key("body_plans");
    json_.begin_array(Lines::lines);
    for (const PlanEntry& entry : all_plans(root)) {
      if (!entry.parent) continue;
      json_.begin_object(Lines::lines);
      write_parent(entry.parent);
      json_.key("step");
      write_id(entry.step);
      json_.member("body", entry.body->body);
      json_.member("offset", entry.body->offset);
      write_head(*entry.plan);
      write_tables(*entry.plan);
      json_.end_object();
    }
    json_.end_array();
  }

  template <typename Names>
  void write_names(const Names& names) {
    json_.begin_array();
    for (const auto& name : names) json_.value(std::string_view(name));
    json_.end_array();
  }

  template <typename Tag>
  void write_ids(const std::vector<Id<Tag>>& ids) {
    json_.begin_array();
    for (Id<Tag> id : ids) write_id(id);
    json_.end_array();
  }

  template <typename Tag>
  void write_id(Id<Tag> id) {
    json_.value(static_cast<std::int64_t>(id.value()));
  }

  void write_optional(std::optional<Bytes> bytes) { bytes ? json_.value(*bytes) : json_.null(); }
  template <typename Tag>
  void write_optional(std::optional<Id<Tag>> id) {
    id ? write_id(*id) : json_.null();
  }

  JsonWriter json_;
};

// An estimate of the length of the text, which avoids copies while the text grows.
std::size_t expected_length(const Plan& plan, const Labels& labels) {
  std::size_t length = 4096;
  for (const NodeLabel& node : labels.nodes) length += node.name.size() + node.op.size() + 10;
  for (const TensorLabel& tensor : labels.tensors) {
    length += tensor.name.size() + 40 + 8 * static_cast<std::size_t>(tensor.shape.rank());
  }
  length += plan.layout.buffers.size() * 64 + plan.program.values.size() * 36;
  for (const Step& step : plan.program.steps) length += 56 + 10 * (step.reads.size() + step.writes.size());
  return length;
}

}  // namespace

std::string write_plan_json(const Plan& plan, const Labels& labels) {
  std::string out;
  out.reserve(expected_length(plan, labels));
  PlanWriter(out).write(plan, labels);
  out += "\n";
  return out;
}

}  // namespace lowtide
