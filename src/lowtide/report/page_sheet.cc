// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/page_sheet.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/peak.h"
#include "lowtide/base/check.h"
#include "lowtide/report/figures.h"
#include "lowtide/report/page_columns.h"
#include "lowtide/report/page_text.h"

namespace lowtide::report_internal {
namespace {

constexpr std::int64_t kNone = -1;
constexpr std::int64_t kNoMove = -2;  // of a copy: within its region

template <typename IdType, typename T>
const T& row_of(const IdVector<IdType, T>& table, std::size_t row) {
  return table[IdType(static_cast<std::uint32_t>(row))];
}

template <typename IdType>
std::int64_t id_or_none(const std::optional<IdType>& id) {
  return id ? static_cast<std::int64_t>(id->value()) : kNone;
}

void append_parent(std::string& out, const Sheet& sheet) {
  append_json_key(out, "parent");
  if (!sheet.parent) {
    out += "null";
    return;
  }
  out += '[';
  append_json_integer(out, static_cast<std::int64_t>(sheet.parent->sheet));
  out += ',';
  append_json_integer(out, sheet.parent->step.value());
  out += ',';
  append_json_string(out, name_in_page(sheet.body));
  out += ',';
  append_json_integer(out, sheet.offset.position());
  out += ']';
}

void append_facts(std::string& out, const Plan& plan) {
  const Provenance& provenance = plan.provenance;
  const Claims& claims = plan.claims;
  append_json_key(out, "facts");
  out += '{';
  append_text_member(out, "tool", provenance.tool);
  append_text_member(out, "model_sha256", provenance.model_sha256);
  append_text_member(out, "graph", provenance.graph);
  append_integer_member(out, "nodes", provenance.nodes);
  append_integer_member(out, "tensors", provenance.tensors);
  append_names(out, "dims", provenance.dims.size(), [&](std::size_t row) { return provenance.dims[row]; });
  append_text_member(out, "target", provenance.target);
  append_integer_member(out, "load_as_given", claims.load_as_given.count());
  append_integer_member(out, "load", claims.load.count());
  const Bound bound = bound_of(plan);
  append_integer_member(out, "bound", bound.bytes.count());
  append_text_member(out, "bound_name", bound.name);
  append_text_member(out, "bound_scope", to_string(bound.scope));
  append_text_member(out, "schedule", claims.schedule);
  append_flag_member(out, "schedule_optimal", claims.schedule_optimal);
  append_text_member(out, "allocate", claims.allocate);
  append_flag_member(out, "allocate_optimal", claims.allocate_optimal);
  if (plan.program.streams.size() > 1) {
    append_integer_member(out, "streams", static_cast<std::int64_t>(plan.program.streams.size()));
  }
  if (const std::string extra = extra_work_text(plan); !extra.empty()) append_text_member(out, "extra_work", extra);
  out += '}';
}

// What runs each stream; a link by the regions at its ends.
void append_streams(std::string& out, const Plan& plan) {
  if (plan.program.streams.size() < 2) return;
  const auto name_of = [&](RegionId id) { return name_in_page(plan.machine.regions[id.index()].name); };
  append_json_key(out, "streams");
  out += '[';
  bool is_first = true;
  for (const Stream& stream : plan.program.streams) {
    if (!std::exchange(is_first, false)) out += ',';
    if (!stream.link) {
      out += "null";
      continue;
    }
    const Link& link = plan.machine.links[*stream.link];
    append_json_strings(out, std::vector{name_of(link.from), name_of(link.to)});
  }
  out += ']';
}

void append_regions(std::string& out, const Plan& plan) {
  append_json_key(out, "regions");
  out += '[';
  for (std::size_t region = 0; region < plan.machine.regions.size(); ++region) {
    if (region != 0) out += ',';
    out += '{';
    append_text_member(out, "name", plan.machine.regions[region].name);
    append_json_key(out, "capacity");
    if (plan.machine.regions[region].capacity) {
      append_json_integer(out, plan.machine.regions[region].capacity->count());
    } else {
      out += "null";
    }
    append_integer_member(out, "alignment", plan.machine.regions[region].alignment.count());
    append_integer_member(out, "arena", plan.layout.arena[region].count());
    const RegionId id(static_cast<std::uint32_t>(region));
    append_integer_member(out, "peak", id_or_none(peak_step(plan, load_by_step(plan.layout, id))));
    out += '}';
  }
  out += ']';
}

void append_labels(std::string& out, const Labels& labels) {
  const std::size_t nodes = labels.nodes.size();
  const std::size_t tensors = labels.tensors.size();
  const auto node_at = [&](std::size_t row) -> const NodeLabel& { return row_of(labels.nodes, row); };
  const auto tensor_at = [&](std::size_t row) -> const TensorLabel& { return row_of(labels.tensors, row); };
  SharedTexts ops;
  append_json_key(out, "node");
  out += '{';
  append_names(out, "name", nodes, [&](std::size_t row) -> const std::string& { return node_at(row).name; });
  append_column(out, "op", nodes, [&](std::size_t row) { return ops.index_of(name_in_page(node_at(row).op)); });
  out += '}';
  SharedTexts types;
  append_json_key(out, "tensor");
  out += '{';
  append_names(out, "name", tensors, [&](std::size_t row) -> const std::string& { return tensor_at(row).name; });
  append_column(out, "type", tensors, [&](std::size_t row) {
    return types.index_of(std::string(to_string(tensor_at(row).dtype)) + to_string(tensor_at(row).shape));
  });
  append_column(out, "role", tensors, [&](std::size_t row) { return static_cast<int>(tensor_at(row).role); });
  append_column(out, "size", tensors, [&](std::size_t row) { return tensor_at(row).size.count(); });
  out += '}';
  append_json_key(out, "ops");
  append_json_strings(out, ops.texts());
  append_json_key(out, "types");
  append_json_strings(out, types.texts());
}

std::int64_t destination_of(const Plan& plan, const Step& step) {
  if (!is_copy(step)) return kNone;
  const std::optional<RegionId> to = region_of(plan, step.writes[0]);
  return to && to != region_of(plan, step.reads[0]) ? static_cast<std::int64_t>(to->value()) : kNoMove;
}

void append_program(std::string& out, const Plan& plan) {
  const std::size_t steps = plan.program.steps.size();
  const auto step_at = [&](std::size_t row) -> const Step& { return row_of(plan.program.steps, row); };
  append_json_key(out, "step");
  out += '{';
  append_column(out, "node", steps, [&](std::size_t row) { return id_or_none(node_of(step_at(row))); });
  append_column(out, "alias", steps, [&](std::size_t row) { return is_alias(step_at(row)) ? 1 : 0; });
  append_column(out, "scratch", steps,
                [&](std::size_t row) { return id_or_none(row_of(plan.layout.steps, row).scratch); });
  if (plan.program.streams.size() > 1) {
    append_column(out, "stream", steps, [&](std::size_t row) { return std::int64_t{step_at(row).stream.value()}; });
  }
  if (copies(plan.program)) {
    append_column(out, "copy", steps, [&](std::size_t row) { return destination_of(plan, step_at(row)); });
  }
  append_column(out, "read_count", steps,
                [&](std::size_t row) { return static_cast<std::int64_t>(step_at(row).reads.size()); });
  std::vector<std::int64_t> reads;
  for (const Step& step : plan.program.steps) {
    for (ValueId value : step.reads) reads.push_back(value.value());
  }
  append_json_key(out, "read");
  append_json_integers(out, reads);
  out += '}';
}

void append_values(std::string& out, const Plan& plan) {
  const auto at = [&](std::size_t row) -> const Value& { return row_of(plan.program.values, row); };
  const auto place_at = [&](std::size_t row) -> const ValuePlace& { return row_of(plan.layout.values, row); };
  const std::size_t count = plan.program.values.size();
  append_json_key(out, "value");
  out += '{';
  append_column(out, "tensor", count, [&](std::size_t row) { return std::int64_t{at(row).tensor.value()}; });
  append_column(out, "written", count, [&](std::size_t row) { return id_or_none(at(row).written); });
  append_column(out, "buffer", count, [&](std::size_t row) { return std::int64_t{place_at(row).buffer.value()}; });
  append_column(out, "offset", count, [&](std::size_t row) { return place_at(row).offset.position(); });
  out += '}';
  append_column(out, "outputs", plan.program.outputs.size(),
                [&](std::size_t row) { return std::int64_t{plan.program.outputs[row].value()}; });
}

// Nothing if no buffer has parts.
void append_parts(std::string& out, const Plan& plan) {
  std::vector<std::int64_t> whose;
  std::vector<const BufferPart*> parts;
  for (BufferId buffer : all_ids<BufferId>(plan.layout.buffers.size())) {
    for (const BufferPart& part : plan.layout.buffers[buffer].parts) {
      whose.push_back(buffer.value());
      parts.push_back(&part);
    }
  }
  if (parts.empty()) return;
  append_json_key(out, "part");
  out += '{';
  append_column(out, "buffer", parts.size(), [&](std::size_t row) { return whose[row]; });
  append_column(out, "size", parts.size(), [&](std::size_t row) { return parts[row]->size.count(); });
  append_column(out, "begin", parts.size(),
                [&](std::size_t row) { return std::int64_t{parts[row]->lifespan.begin.value()}; });
  append_column(out, "end", parts.size(),
                [&](std::size_t row) { return std::int64_t{parts[row]->lifespan.end.value()}; });
  out += '}';
}

void append_buffers(std::string& out, const Plan& plan, const Labels& labels) {
  const auto at = [&](std::size_t row) -> const Buffer& { return row_of(plan.layout.buffers, row); };
  const IdVector<BufferId, BufferUse> uses = buffer_uses(plan, labels);
  const std::size_t count = plan.layout.buffers.size();
  append_json_key(out, "buffer");
  out += '{';
  append_column(out, "kind", count, [&](std::size_t row) { return static_cast<int>(at(row).kind); });
  append_column(out, "size", count, [&](std::size_t row) { return at(row).size.count(); });
  append_column(out, "begin", count, [&](std::size_t row) { return std::int64_t{at(row).lifespan.begin.value()}; });
  append_column(out, "end", count, [&](std::size_t row) { return std::int64_t{at(row).lifespan.end.value()}; });
  append_column(out, "region", count, [&](std::size_t row) {
    return at(row).placement ? std::int64_t{at(row).placement->region.value()} : kNone;
  });
  append_column(out, "offset", count,
                [&](std::size_t row) { return at(row).placement ? at(row).placement->offset.position() : kNone; });
  append_column(out, "name", count, [&](std::size_t row) { return id_or_none(row_of(uses, row).name); });
  out += '}';
  append_parts(out, plan);
}

}  // namespace

void append_sheets(std::vector<Sheet>& sheets, const Plan& plan, const Labels& labels) {
  std::size_t at = sheets.size();
  sheets.push_back({.plan = &plan, .labels = &labels});
  for (; at < sheets.size(); ++at) {
    const Sheet outer = sheets[at];
    for (StepId step : all_ids<StepId>(outer.plan->program.steps.size())) {
      const std::optional<NodeId> node = node_of(outer.plan->program.steps[step]);
      const std::vector<BodyPlan>& bodies = outer.plan->layout.steps[step].bodies;
      for (std::size_t position = 0; node && position < bodies.size(); ++position) {
        const BodyPlan& body = bodies[position];
        const Labels* inner = body_labels(*outer.labels, *node, position);
        LOWTIDE_CHECK(inner != nullptr, "labels name every body of their plan");
        sheets.push_back({.plan = body.plan.get(),
                          .labels = inner,
                          .parent = SheetParent{at, step},
                          .body = body.body,
                          .offset = body.offset});
      }
    }
  }
}

void append_sheet_json(std::string& out, const Sheet& sheet) {
  out += '{';
  append_parent(out, sheet);
  append_facts(out, *sheet.plan);
  append_streams(out, *sheet.plan);
  append_regions(out, *sheet.plan);
  append_labels(out, *sheet.labels);
  append_program(out, *sheet.plan);
  append_values(out, *sheet.plan);
  append_buffers(out, *sheet.plan, *sheet.labels);
  out += '}';
}

}  // namespace lowtide::report_internal
