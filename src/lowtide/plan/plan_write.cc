// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/graph/text.h"
#include "lowtide/plan/json_writer.h"
#include "lowtide/plan/plan_form.h"
#include "lowtide/plan/plan_json.h"

namespace lowtide {
namespace {

namespace form = detail::plan_form;
using Layout = JsonWriter::Layout;

// The labels of a graph and of the bodies inside it; likewise plans. A parent stands before its bodies.
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
    for (StepId step : all_ids<StepId>(plan.program.size())) {
      for (const BodyPlan& body : plan.program[step].bodies) {
        LOWTIDE_CHECK(body.plan != nullptr, "a step's body has a plan");
        entries.push_back({body.plan.get(), at, step, &body});
      }
    }
  }
  return entries;
}

// The lowest that can say it.
std::int64_t version_of(const Plan& root) {
  std::int64_t version = form::kSchemaVersion;
  for (const PlanEntry& entry : all_plans(root)) {
    if (entry.plan->streams > 1) version = std::max(version, form::kStreamsVersion);
    for (const Buffer& buffer : entry.plan->buffers) {
      if (!buffer.parts.empty()) return form::kPartsVersion;
    }
  }
  return version;
}

class PlanWriter {
 public:
  PlanWriter(std::string& out, std::int64_t version) : json_(out), version_(version) {}

  void write(const Plan& plan, const Labels& labels) {
    json_.begin_object(Layout::lines);
    json_.member("format", form::kFormat);
    json_.member("schema_version", version_);
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
    json_.begin_object(Layout::lines);
    for (std::size_t table = 0; table < form::kTables.size(); ++table) {
      json_.key(form::kTables[table]);
      json_.begin_array();
      for (std::string_view column : form::columns_of(version_)[table]) json_.value(column);
      json_.end_array();
    }
    json_.end_object();
  }

  void write_head(const Plan& plan) {
    const Provenance& provenance = plan.provenance;
    json_.key("provenance");
    json_.begin_object();
    json_.member("tool", provenance.tool);
    json_.member("model_sha256", provenance.model_sha256);
    json_.member("graph", provenance.graph);
    json_.member("nodes", provenance.nodes);
    json_.member("tensors", provenance.tensors);
    json_.key("dims");
    json_.begin_array();
    for (const std::string& dim : provenance.dims) json_.value(dim);
    json_.end_array();
    json_.member("target", provenance.target);
    json_.end_object();
    json_.key("regions");
    json_.begin_array(Layout::lines);
    for (const Region& region : plan.regions) {
      json_.begin_object();
      json_.member("name", region.name);
      json_.key("capacity");
      write_optional(region.capacity);
      json_.member("alignment", region.alignment);
      json_.end_object();
    }
    json_.end_array();
    json_.key("arena");
    json_.begin_array();
    for (Bytes bytes : plan.arena) json_.value(bytes);
    json_.end_array();
    write_claims(plan.claims);
  }

  void write_claims(const Claims& claims) {
    json_.key("claims");
    json_.begin_object();
    json_.member("load_as_given", claims.load_as_given);
    json_.member("load", claims.load);
    json_.member("bound", claims.bound);
    json_.member("bound_name", claims.bound_name);
    json_.member("schedule", claims.schedule);
    json_.member("schedule_optimal", claims.schedule_optimal);
    json_.member("allocate", claims.allocate);
    json_.member("allocate_optimal", claims.allocate_optimal);
    json_.end_object();
  }

  void write_labels(const Labels& labels) {
    json_.key("nodes");
    json_.begin_array(Layout::lines);
    for (const NodeLabel& node : labels.nodes) {
      json_.begin_array();
      json_.value(node.name);
      json_.value(node.op);
      json_.end_array();
    }
    json_.end_array();
    json_.key("tensors");
    json_.begin_array(Layout::lines);
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
    if (version_ >= form::kStreamsVersion) json_.member("streams", std::int64_t{plan.streams});
    json_.key("buffers");
    json_.begin_array(Layout::lines);
    for (const Buffer& buffer : plan.buffers) write_buffer(buffer);
    json_.end_array();
    json_.key("values");
    json_.begin_array(Layout::lines);
    for (const Value& value : plan.values) {
      json_.begin_array();
      write_id(value.tensor);
      write_optional(value.written);
      write_id(value.buffer);
      json_.value(value.offset);
      json_.end_array();
    }
    json_.end_array();
    json_.key("steps");
    json_.begin_array(Layout::lines);
    for (const Step& step : plan.program) write_step(step);
    json_.end_array();
  }

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
      json_.null();
      json_.null();
    }
    if (version_ == form::kPartsVersion) write_parts(buffer.parts);
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

  void write_step(const Step& step) {
    json_.begin_array();
    write_id(step.node);
    json_.value(to_string(step.kind));
    json_.begin_array();
    for (ValueId value : step.reads) write_id(value);
    json_.end_array();
    json_.begin_array();
    for (ValueId value : step.writes) write_id(value);
    json_.end_array();
    write_optional(step.scratch);
    if (version_ >= form::kStreamsVersion) {
      json_.value(std::int64_t{step.stream});
      json_.begin_array();
      for (StepId before : step.after) write_id(before);
      json_.end_array();
    }
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
    json_.begin_array(Layout::lines);
    for (const LabelEntry& entry : all_labels(root)) {
      if (!entry.parent) continue;
      json_.begin_object(Layout::lines);
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
    json_.begin_array(Layout::lines);
    for (const PlanEntry& entry : all_plans(root)) {
      if (!entry.parent) continue;
      json_.begin_object(Layout::lines);
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
  const std::int64_t version_;
};

// About the length of the text, so that it seldom has to be copied while it grows.
std::size_t expected_length(const Plan& plan, const Labels& labels) {
  std::size_t length = 4096;
  for (const NodeLabel& node : labels.nodes) length += node.name.size() + node.op.size() + 10;
  for (const TensorLabel& tensor : labels.tensors) {
    length += tensor.name.size() + 40 + 8 * static_cast<std::size_t>(tensor.shape.rank());
  }
  length += plan.buffers.size() * 60 + plan.values.size() * 36;
  for (const Step& step : plan.program) length += 36 + 10 * (step.reads.size() + step.writes.size());
  return length;
}

}  // namespace

std::string write_plan_json(const Plan& plan, const Labels& labels) {
  std::string out;
  out.reserve(expected_length(plan, labels));
  PlanWriter(out, version_of(plan)).write(plan, labels);
  out += "\n";
  return out;
}

}  // namespace lowtide
