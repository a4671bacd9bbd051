// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/text.h"
#include "lowtide/plan/json_reader.h"
#include "lowtide/plan/plan_check.h"
#include "lowtide/plan/plan_form.h"
#include "lowtide/plan/plan_json.h"

namespace lowtide {
namespace {

namespace form = detail::plan_form;
using detail::JsonReader;

constexpr std::size_t kBufferTable = 2;  // in form::kTables

class PlanReader {
 public:
  PlanReader(std::string_view text, const std::string& source_name, std::int64_t version = form::kSchemaVersion)
      : json_(text, source_name), version_(version) {}

  // Reads everything once to see that it is JSON of a version that is understood: an error in there is told as such,
  // and not as an unknown key of another version.
  bool check_version();
  bool read(detail::ReadFile& file);
  [[nodiscard]] std::int64_t version() const { return version_; }
  [[nodiscard]] const std::optional<Error>& error() const { return json_.error(); }

 private:
  bool read_member(std::string_view name, detail::ReadFile& file);
  bool read_constant(std::string_view wanted);
  bool read_columns();
  bool read_provenance(Provenance& provenance);
  bool read_region(Region& region);
  bool read_claims(Claims& claims);
  bool read_plan_member(std::string_view key, Plan& plan);
  bool read_labels_member(std::string_view key, Labels& labels);
  bool read_node(NodeLabel& node);
  bool read_tensor(TensorLabel& tensor);
  bool read_buffer(Buffer& buffer);
  bool read_part(BufferPart& part);
  bool read_value(Value& value);
  bool read_step(Step& step);
  bool read_body(detail::ReadLabels& body);
  bool read_body_plan(detail::ReadPlan& body);
  bool read_parent(std::optional<std::uint32_t>& parent);

  bool read_bytes(Bytes& bytes, std::int64_t least = 0, std::int64_t most = limits::kMaxArenaBytes);
  bool read_offset(Offset& offset);
  bool read_count(std::string_view what, std::int64_t least, std::int64_t most, std::uint32_t& count);
  template <typename Tag>
  bool read_id(std::string_view what, Id<Tag>& id);
  template <typename Tag>
  bool read_ids(std::string_view what, std::vector<Id<Tag>>& ids);
  template <typename Tag>
  bool read_optional_id(std::string_view what, std::optional<Id<Tag>>& id);

  // An array of at most `most` rows.
  template <typename Table, typename Row>
  bool read_table(std::int64_t most, Table& table, bool (PlanReader::*read_row)(Row&)) {
    return json_.read_array([&] {
      if (static_cast<std::int64_t>(table.size()) == most) {
        return json_.fail(ErrorCode::over_limit, "more rows than the limit of " + std::to_string(most));
      }
      Row row;
      if (!(this->*read_row)(row)) return false;
      table.push_back(std::move(row));
      return true;
    });
  }

  [[nodiscard]] bool has_streams() const { return version_ >= form::kStreamsVersion; }
  [[nodiscard]] std::span<const std::string_view> columns(std::size_t table) const {
    return form::columns_of(version_)[table];
  }

  JsonReader json_;
  std::int64_t version_;  // of the form that is read
};

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

bool PlanReader::read(detail::ReadFile& file) {
  file.is_for_streams = version_ == form::kStreamsVersion;
  file.is_for_parts = version_ == form::kPartsVersion;
  file.labels.resize(1);
  file.plans.resize(1);
  const std::span<const std::string_view> keys =
      has_streams() ? std::span<const std::string_view>(form::kStreamsFileKeys) : form::kFileKeys;
  return json_.read_object(keys, [&](std::size_t key) { return read_member(keys[key], file); }) && json_.read_end();
}

bool PlanReader::read_member(std::string_view name, detail::ReadFile& file) {
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

bool PlanReader::read_node(NodeLabel& node) {
  return json_.read_row(form::kNodeColumns,
                        [&](std::size_t column) { return json_.read_name(column == 0 ? node.name : node.op); });
}

bool PlanReader::read_tensor(TensorLabel& tensor) {
  std::string text;
  return json_.read_row(form::kTensorColumns, [&](std::size_t column) {
    if (column == 0) return json_.read_name(tensor.name);
    if (column == 3) {
      tensor.size = dense_size(tensor.dtype, tensor.shape).value();  // parse_tensor_type has refused what has none
      return read_bytes(tensor.size, tensor.size.count(), tensor.size.count());
    }
    if (!json_.read_name(text)) return false;
    if (column == 1) {
      const std::optional<TensorType> type = parse_tensor_type(text);
      if (!type)
        return json_.fail(ErrorCode::invalid, "expected a type such as \"f32[1,3,<=100]\", found " + quoted(text, 40));
      tensor.dtype = type->dtype;
      tensor.shape = type->shape;
      return true;
    }
    const std::optional<Role> role = role_from_string(text);
    if (!role)
      return json_.fail(ErrorCode::invalid,
                        "expected input, output, constant, state or temporary, found " + quoted(text, 40));
    tensor.role = *role;
    return true;
  });
}

bool PlanReader::read_buffer(Buffer& buffer) {
  std::string kind;
  bool is_placed = false;
  return json_.read_row(columns(kBufferTable), [&](std::size_t column) {
    switch (column) {
      case 0: {
        if (!json_.read_name(kind)) return false;
        const std::optional<BufferKind> known = buffer_kind_from_string(kind);
        if (!known)
          return json_.fail(ErrorCode::invalid,
                            "expected a kind of buffer such as temporary, found " + quoted(kind, 40));
        buffer.kind = *known;
        return true;
      }
      case 1:
        return read_bytes(buffer.size);
      case 2:
        return read_id("a step", buffer.lifespan.begin);
      case 3:
        return read_id("a step", buffer.lifespan.end);
      case 4:
        is_placed = !json_.accept_null();
        return !is_placed || read_id("a region, or null", buffer.placement.emplace().region);
      case 5:
        if (is_placed) return read_offset(buffer.placement->offset);
        return json_.accept_null() || json_.fail_expected("null, since the region is null");
      default: {
        const bool ok = read_table(limits::kMaxTensors, buffer.parts, &PlanReader::read_part);
        buffer.parts.shrink_to_fit();
        return ok;
      }
    }
  });
}

bool PlanReader::read_part(BufferPart& part) {
  return json_.read_row(form::kPartColumns, [&](std::size_t column) {
    if (column == 0) return read_bytes(part.size, 1);
    return read_id("a step", column == 1 ? part.lifespan.begin : part.lifespan.end);
  });
}

bool PlanReader::read_value(Value& value) {
  return json_.read_row(form::kValueColumns, [&](std::size_t column) {
    if (column == 0) return read_id("a tensor", value.tensor);
    if (column == 1) return read_optional_id("a step", value.written);
    if (column == 2) return read_id("a buffer", value.buffer);
    return read_offset(value.offset);
  });
}

bool PlanReader::read_step(Step& step) {
  std::string kind;
  return json_.read_row(columns(form::kTables.size() - 1), [&](std::size_t column) {
    if (column == 0) return read_id("a node", step.node);
    if (column == 2) return read_ids("a value", step.reads);
    if (column == 3) return read_ids("a value", step.writes);
    if (column == 4) return read_optional_id("a buffer", step.scratch);
    if (column == 5) return read_count("a stream", 0, limits::kMaxStreams - 1, step.stream);
    if (column == 6) return read_ids("a step", step.after);
    if (!json_.read_name(kind)) return false;
    step.kind = kind == to_string(StepKind::alias) ? StepKind::alias : StepKind::compute;
    return kind == to_string(step.kind) ||
           json_.fail(ErrorCode::invalid, "expected compute or alias, found " + quoted(kind, 40));
  });
}

bool PlanReader::read_body(detail::ReadLabels& body) {
  return json_.read_object(form::kBodyKeys, [&](std::size_t key) {
    const std::string_view name = form::kBodyKeys[key];
    if (name == "parent") return read_parent(body.parent);
    if (name == "node") return read_id("a node", body.node);
    if (name == "body") return json_.read_name(body.body);
    return read_labels_member(name, body.labels);
  });
}

bool PlanReader::read_body_plan(detail::ReadPlan& body) {
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

bool PlanReader::read_bytes(Bytes& bytes, std::int64_t least, std::int64_t most) {
  std::int64_t count = 0;
  if (!json_.read_integer("a number of bytes", least, most, count)) return false;
  bytes = Bytes(count);
  return true;
}

bool PlanReader::read_count(std::string_view what, std::int64_t least, std::int64_t most, std::uint32_t& count) {
  std::int64_t number = 0;
  if (!json_.read_integer(what, least, most, number)) return false;
  count = static_cast<std::uint32_t>(number);
  return true;
}

bool PlanReader::read_offset(Offset& offset) {
  std::int64_t position = 0;
  if (!json_.read_integer("an offset in bytes", 0, limits::kMaxArenaBytes, position)) return false;
  offset = Offset(position);
  return true;
}

template <typename Tag>
bool PlanReader::read_id(std::string_view what, Id<Tag>& id) {
  std::int64_t number = 0;
  if (!json_.read_integer(what, 0, std::numeric_limits<std::uint32_t>::max(), number)) return false;
  id = Id<Tag>(static_cast<std::uint32_t>(number));
  return true;
}

template <typename Tag>
bool PlanReader::read_ids(std::string_view what, std::vector<Id<Tag>>& ids) {
  const bool ok = json_.read_array([&] { return read_id(what, ids.emplace_back()); });
  ids.shrink_to_fit();  // most have one or two, and there may be millions
  return ok;
}

template <typename Tag>
bool PlanReader::read_optional_id(std::string_view what, std::optional<Id<Tag>>& id) {
  return json_.accept_null() || read_id(what, id.emplace());
}

// Bodies stand behind what is around them, so the last one is complete first.
PlanFile assembled(detail::ReadFile file) {
  std::vector<detail::ReadLabels>& labels = file.labels;
  for (std::size_t at = labels.size() - 1; at > 0; --at) {
    std::vector<Labels::BodyLabels>& bodies = labels[labels[at].parent ? *labels[at].parent + 1 : 0].labels.bodies;
    std::reverse(labels[at].labels.bodies.begin(), labels[at].labels.bodies.end());
    bodies.push_back({labels[at].node, std::move(labels[at].body), std::move(labels[at].labels)});
  }
  std::reverse(labels[0].labels.bodies.begin(), labels[0].labels.bodies.end());
  std::vector<detail::ReadPlan>& plans = file.plans;
  const auto reverse_bodies = [](Plan& plan) {
    for (Step& step : plan.program) std::reverse(step.bodies.begin(), step.bodies.end());
  };
  for (std::size_t at = plans.size() - 1; at > 0; --at) {
    Plan& around = plans[plans[at].parent ? *plans[at].parent + 1 : 0].plan;
    reverse_bodies(plans[at].plan);
    around.program[plans[at].step].bodies.push_back(
        {std::move(plans[at].body), plans[at].offset, std::make_shared<const Plan>(std::move(plans[at].plan))});
  }
  reverse_bodies(plans[0].plan);
  return {std::move(plans[0].plan), std::move(labels[0].labels)};
}

}  // namespace

Result<PlanFile> read_plan_json(std::string_view text, std::string source_name) {
  if (static_cast<std::int64_t>(text.size()) > limits::kMaxPlanFileBytes) {
    return Error{ErrorCode::over_limit,
                 "a plan file of " + std::to_string(text.size()) + " bytes is above the limit of " +
                     std::to_string(limits::kMaxPlanFileBytes) + " (kMaxPlanFileBytes)",
                 std::move(source_name)};
  }
  PlanReader scan(text, source_name);
  if (!scan.check_version()) return *scan.error();
  detail::ReadFile file;
  PlanReader reader(text, source_name, scan.version());
  if (!reader.read(file)) return *reader.error();
  LOWTIDE_RETURN_IF_ERROR(detail::check_plan_file(file, source_name));
  return assembled(std::move(file));
}

}  // namespace lowtide
