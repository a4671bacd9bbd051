// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan_reader.h"

#include <algorithm>

#include "lowtide/base/quote.h"

namespace lowtide::plan_internal {

namespace form = plan_form;

bool PlanReader::check_version() {
  std::optional<std::int64_t> version;
  std::optional<std::string> format;
  const bool ok = json_.read_any_object([&](const std::string& key) {
    if (key == "format") return json_.read_name(format.emplace());
    if (key == "schema_version") {
      constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
      return json_.read_integer("a version", 0, kAny, version.emplace());
    }
    return json_.skip_value(1);
  });
  if (!ok || !json_.read_end()) return false;
  if (!format || *format != form::kFormat) {
    return json_.fail(ErrorCode::malformed, "not a plan file: the key 'format' is " +
                                                (format ? quoted(*format) : "missing") + " and should be '" +
                                                std::string(form::kFormat) + "'");
  }
  if (!version) return json_.fail(ErrorCode::invalid, "the key 'schema_version' is missing");
  if (*version == form::kSchemaVersion) return true;
  return json_.fail(ErrorCode::unsupported,
                    "schema_version " + std::to_string(*version) + " is not understood; this program reads version " +
                        std::to_string(form::kSchemaVersion) + ": plan the model again with it");
}

bool PlanReader::read(ReadFile& file) {
  file.labels.resize(1);
  file.plans.resize(1);
  return json_.read_object(form::kFileKeys, [&](std::size_t key) { return read_member(form::kFileKeys[key], file); }) &&
         json_.read_end();
}

bool PlanReader::read_member(std::string_view name, ReadFile& file) {
  std::int64_t version = 0;
  if (name == "format") return read_constant(form::kFormat);
  if (name == "schema_version") {
    return json_.read_integer("the version", form::kSchemaVersion, form::kSchemaVersion, version);
  }
  if (name == "features") return read_features(file.features);
  if (name == "columns") return read_columns();
  if (name == "nodes" || name == "tensors") return read_labels_member(name, file.labels[0].labels);
  // Each body belongs to a node, so the limit on nodes also bounds the number of bodies.
  if (name == "bodies") return read_table(limits::kMaxNodes, file.labels, &PlanReader::read_body);
  if (name == "body_plans") return read_table(limits::kMaxNodes, file.plans, &PlanReader::read_body_plan);
  return read_plan_member(name, file.plans[0].plan);
}

// An unknown feature may change the meaning of a plan, so the plan cannot be used.
bool PlanReader::read_features(std::vector<std::string_view>& features) {
  std::string name;
  return json_.read_array([&] {
    if (!json_.read_name(name)) return false;
    const auto known = std::find(form::kFeatures.begin(), form::kFeatures.end(), name);
    if (known == form::kFeatures.end()) {
      return json_.fail(ErrorCode::unsupported,
                        "the plan needs " + quoted(name, 40) + ", which this program does not understand");
    }
    features.push_back(*known);
    return true;
  });
}

bool PlanReader::read_constant(std::string_view wanted) {
  std::string text;
  if (!json_.read_name(text)) return false;
  return text == wanted || json_.fail(ErrorCode::invalid, "expected " + quoted(wanted) + ", found " + quoted(text, 40));
}

// The names of the columns must be those of this version.
bool PlanReader::read_columns() {
  return json_.read_object(form::kTables, [&](std::size_t table) {
    const std::span<const std::string_view> columns = form::kColumns[table];
    return json_.read_row(columns, [&](std::size_t column) { return read_constant(columns[column]); });
  });
}

bool PlanReader::read_provenance(Provenance& provenance) {
  const auto read_dim = [&] { return json_.read_name(provenance.dims.emplace_back()); };
  return json_.read_object(form::kProvenanceKeys, 1, [&](std::size_t key) {
    const std::string_view name = form::kProvenanceKeys[key];
    if (name == "tool") return json_.read_name(provenance.tool);
    if (name == "model") return json_.read_name(provenance.model);
    if (name == "model_sha256") return json_.read_name(provenance.model_sha256);
    if (name == "graph") return json_.read_name(provenance.graph);
    if (name == "nodes") return json_.read_integer("a number of nodes", 0, limits::kMaxNodes, provenance.nodes);
    if (name == "tensors") return json_.read_integer("a number of tensors", 0, limits::kMaxTensors, provenance.tensors);
    if (name == "lowering")
      return json_.read_array([&] { return json_.read_name(provenance.lowering.emplace_back()); });
    if (name == "dims") return json_.read_array(read_dim);
    if (name == "target") return json_.read_name(provenance.target);
    return json_.read_array([&] { return json_.read_name(provenance.machine_key.emplace_back()); });
  });
}

bool PlanReader::read_region(Region& region) {
  return json_.read_object(form::kRegionKeys, 1, [&](std::size_t key) {
    const std::string_view name = form::kRegionKeys[key];
    if (name == "name") return json_.read_name(region.name);
    if (name == "capacity") return json_.accept_null() || read_bytes(region.capacity.emplace());
    if (name == "alignment") return read_bytes(region.alignment, 1, limits::kMaxAlignment);
    return json_.read_bool(region.is_read_only);
  });
}

bool PlanReader::read_machine(Machine& machine) {
  return json_.read_object(form::kMachineKeys, 1, [&](std::size_t key) {
    const std::string_view name = form::kMachineKeys[key];
    if (name == "regions") return read_table(limits::kMaxNodes, machine.regions, &PlanReader::read_region);
    if (name == "links") return read_table(limits::kMaxNodes, machine.links, &PlanReader::read_link);
    if (name == "workers") return read_table(limits::kMaxNodes, machine.workers, &PlanReader::read_worker);
    return read_id("a region", machine.constants.emplace());
  });
}

bool PlanReader::read_link(Link& link) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return json_.read_object(form::kLinkKeys, [&](std::size_t key) {
    const std::string_view name = form::kLinkKeys[key];
    if (name == "from") return read_id("a region", link.from);
    if (name == "to") return read_id("a region", link.to);
    if (name == "bytes_per_second") return json_.read_integer("a bandwidth", 1, kMost, link.bytes_per_second);
    return json_.read_integer("a latency", 0, kMost, link.latency_picoseconds);
  });
}

bool PlanReader::read_worker(Worker& worker) {
  return json_.read_object(form::kWorkerKeys, [&](std::size_t key) {
    const std::string_view name = form::kWorkerKeys[key];
    if (name == "name") return json_.read_name(worker.name);
    if (name == "addressable") return read_ids("a region", worker.addressable);
    std::int64_t count = 0;
    if (!json_.read_integer("a number of workers", 1, std::numeric_limits<int>::max(), count)) return false;
    worker.count = static_cast<int>(count);
    return true;
  });
}

bool PlanReader::read_kernel(PlannedKernel& kernel) { return json_.read_name(kernel.name); }

bool PlanReader::read_bound(Bound& bound) {
  return json_.read_object(form::kBoundKeys, [&](std::size_t key) {
    const std::string_view name = form::kBoundKeys[key];
    if (name == "bytes") return read_bytes(bound.bytes, 0, limits::kMaxTotalBytes);
    if (name == "name") return json_.read_name(bound.name);
    return read_enum(bound.scope);
  });
}

bool PlanReader::read_claims(Claims& claims) {
  return json_.read_object(form::kClaimKeys, [&](std::size_t key) {
    const std::string_view name = form::kClaimKeys[key];
    if (name == "load_as_given") return read_bytes(claims.load_as_given, 0, limits::kMaxTotalBytes);
    if (name == "load") return read_bytes(claims.load, 0, limits::kMaxTotalBytes);
    if (name == "bounds") return read_table(form::kBoundScopes, claims.bounds, &PlanReader::read_bound);
    if (name == "schedule") return json_.read_name(claims.schedule);
    if (name == "schedule_optimal") return json_.read_bool(claims.schedule_optimal);
    if (name == "allocate") return json_.read_name(claims.allocate);
    if (name == "allocate_optimal") return json_.read_bool(claims.allocate_optimal);
    if (name == "shortfall") return read_bytes(claims.shortfall, 0, limits::kMaxTotalBytes);
    return json_.read_array([&] { return json_.read_name(claims.uncounted.emplace_back()); });
  });
}

bool PlanReader::read_plan_member(std::string_view key, Plan& plan) {
  if (key == "provenance") return read_provenance(plan.provenance);
  if (key == "machine") return read_machine(plan.machine);
  if (key == "execution") return read_enum(plan.execution);
  if (key == "kernels") return read_table(limits::kMaxNodes, plan.kernels, &PlanReader::read_kernel);
  if (key == "arena") return json_.read_array([&] { return read_bytes(plan.layout.arena.emplace_back()); });
  if (key == "claims") return read_claims(plan.claims);
  if (key == "streams") return read_table(limits::kMaxStreams, plan.program.streams, &PlanReader::read_stream);
  // Nodes may run again, so there may be more steps than nodes. These tables have the limit of tensors.
  if (key == "buffers") return read_table(limits::kMaxTensors, plan.layout.buffers, &PlanReader::read_buffer);
  if (key == "values") return read_values(plan);
  if (key == "steps") return read_steps(plan);
  return read_ids("a value", key == "outputs" ? plan.program.outputs : plan.program.updates);
}

bool PlanReader::read_labels_member(std::string_view key, Labels& labels) {
  if (key == "nodes") return read_table(limits::kMaxNodes, labels.nodes, &PlanReader::read_node);
  return read_table(limits::kMaxTensors, labels.tensors, &PlanReader::read_tensor);
}

bool PlanReader::read_body(ReadLabels& body) {
  return json_.read_object(form::kBodyKeys, [&](std::size_t key) {
    const std::string_view name = form::kBodyKeys[key];
    if (name == "parent") return read_parent(body.parent);
    if (name == "node") return read_id("a node", body.node);
    if (name == "body") return json_.read_name(body.body);
    return read_labels_member(name, body.labels);
  });
}

bool PlanReader::read_body_plan(ReadPlan& body) {
  return json_.read_object(form::kBodyPlanKeys, [&](std::size_t key) {
    const std::string_view name = form::kBodyPlanKeys[key];
    if (name == "parent") return read_parent(body.parent);
    if (name == "step") return read_id("a step", body.step);
    if (name == "body") return json_.read_name(body.body);
    if (name == "offset") return read_offset(body.offset);
    return read_plan_member(name, body.plan);
  });
}

bool PlanReader::read_parent(std::optional<std::uint32_t>& parent) {
  if (json_.accept_null()) return true;
  std::int64_t number = 0;
  if (!json_.read_integer("an earlier entry, or null", 0, limits::kMaxNodes, number)) return false;
  parent = static_cast<std::uint32_t>(number);
  return true;
}

}  // namespace lowtide::plan_internal
