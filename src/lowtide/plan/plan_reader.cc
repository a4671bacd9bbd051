// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan_reader.h"

#include "lowtide/base/quote.h"

namespace lowtide::detail {

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
  version_ = *version;
  if (version_ >= form::kSchemaVersion && version_ <= form::kPartsVersion) return true;
  return json_.fail(ErrorCode::unsupported, "schema_version " + std::to_string(*version) +
                                                " is not understood; this program reads versions " +
                                                std::to_string(form::kSchemaVersion) + " to " +
                                                std::to_string(form::kPartsVersion) + ": plan the model again with it");
}

bool PlanReader::read(ReadFile& file) {
  file.is_for_streams = version_ == form::kStreamsVersion;
  file.is_for_parts = version_ == form::kPartsVersion;
  file.labels.resize(1);
  file.plans.resize(1);
  const std::span<const std::string_view> keys =
      has_streams() ? std::span<const std::string_view>(form::kStreamsFileKeys) : form::kFileKeys;
  return json_.read_object(keys, [&](std::size_t key) { return read_member(keys[key], file); }) && json_.read_end();
}

bool PlanReader::read_member(std::string_view name, ReadFile& file) {
  std::int64_t version = 0;
  if (name == "format") return read_constant(form::kFormat);
  if (name == "schema_version") return json_.read_integer("the version", version_, version_, version);
  if (name == "columns") return read_columns();
  if (name == "nodes" || name == "tensors") return read_labels_member(name, file.labels[0].labels);
  // Every body has a node around it, so the limit of nodes bounds bodies too.
  if (name == "bodies") return read_table(limits::kMaxNodes, file.labels, &PlanReader::read_body);
  if (name == "body_plans") return read_table(limits::kMaxNodes, file.plans, &PlanReader::read_body_plan);
  return read_plan_member(name, file.plans[0].plan);
}

bool PlanReader::read_constant(std::string_view wanted) {
  std::string text;
  if (!json_.read_name(text)) return false;
  return text == wanted || json_.fail(ErrorCode::invalid, "expected " + quoted(wanted) + ", found " + quoted(text, 40));
}

// A legend for people and scripts: it must say what this version means.
bool PlanReader::read_columns() {
  return json_.read_object(form::kTables, [&](std::size_t table) {
    return json_.read_row(columns(table), [&](std::size_t column) { return read_constant(columns(table)[column]); });
  });
}

bool PlanReader::read_provenance(Provenance& provenance) {
  const auto read_dim = [&] { return json_.read_name(provenance.dims.emplace_back()); };
  return json_.read_object(form::kProvenanceKeys, [&](std::size_t key) {
    const std::string_view name = form::kProvenanceKeys[key];
    if (name == "tool") return json_.read_name(provenance.tool);
    if (name == "model_sha256") return json_.read_name(provenance.model_sha256);
    if (name == "graph") return json_.read_name(provenance.graph);
    if (name == "nodes") return json_.read_integer("a number of nodes", 0, limits::kMaxNodes, provenance.nodes);
    if (name == "tensors") return json_.read_integer("a number of tensors", 0, limits::kMaxTensors, provenance.tensors);
    if (name == "dims") return json_.read_array(read_dim);
    return json_.read_name(provenance.target);
  });
}

bool PlanReader::read_region(Region& region) {
  return json_.read_object(form::kRegionKeys, [&](std::size_t key) {
    const std::string_view name = form::kRegionKeys[key];
    if (name == "name") return json_.read_name(region.name);
    if (name == "capacity") return json_.accept_null() || read_bytes(region.capacity.emplace());
    return read_bytes(region.alignment, 1, limits::kMaxAlignment);
  });
}

bool PlanReader::read_claims(Claims& claims) {
  return json_.read_object(form::kClaimKeys, [&](std::size_t key) {
    const std::string_view name = form::kClaimKeys[key];
    if (name == "load_as_given") return read_bytes(claims.load_as_given, 0, limits::kMaxTotalBytes);
    if (name == "load") return read_bytes(claims.load, 0, limits::kMaxTotalBytes);
    if (name == "bound") return read_bytes(claims.bound, 0, limits::kMaxTotalBytes);
    if (name == "bound_name") return json_.read_name(claims.bound_name);
    if (name == "schedule") return json_.read_name(claims.schedule);
    if (name == "schedule_optimal") return json_.read_bool(claims.schedule_optimal);
    if (name == "allocate") return json_.read_name(claims.allocate);
    return json_.read_bool(claims.allocate_optimal);
  });
}

bool PlanReader::read_plan_member(std::string_view key, Plan& plan) {
  if (key == "provenance") return read_provenance(plan.provenance);
  if (key == "regions") return read_table(limits::kMaxNodes, plan.regions, &PlanReader::read_region);
  if (key == "arena") return json_.read_array([&] { return read_bytes(plan.arena.emplace_back()); });
  if (key == "claims") return read_claims(plan.claims);
  if (key == "streams") return read_count("a number of streams", 1, limits::kMaxStreams, plan.streams);
  // Tensors may be produced several times, so steps are bounded as tensors are.
  if (key == "buffers") return read_table(limits::kMaxTensors, plan.buffers, &PlanReader::read_buffer);
  if (key == "values") return read_table(limits::kMaxTensors, plan.values, &PlanReader::read_value);
  return read_table(limits::kMaxTensors, plan.program, &PlanReader::read_step);
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
  const std::span<const std::string_view> keys =
      has_streams() ? std::span<const std::string_view>(form::kStreamsBodyPlanKeys) : form::kBodyPlanKeys;
  return json_.read_object(keys, [&](std::size_t key) {
    const std::string_view name = keys[key];
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

}  // namespace lowtide::detail
