// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/quote.h"
#include "lowtide/graph/text.h"
#include "lowtide/plan/plan_reader.h"

// Reads the rows of the tables of a plan file.
namespace lowtide::plan_internal {

namespace form = plan_form;

bool PlanReader::read_node(NodeLabel& node) {
  return json_.read_row(form::kNodeColumns,
                        [&](std::size_t column) { return json_.read_name(column == 0 ? node.name : node.op); });
}

bool PlanReader::read_tensor(TensorLabel& tensor) {
  std::string text;
  return json_.read_row(form::kTensorColumns, [&](std::size_t column) {
    if (column == 0) return json_.read_name(tensor.name);
    if (column == 3) {
      tensor.size = dense_size(tensor.dtype, tensor.shape).value();  // parse_tensor_type refuses types without a size
      return read_bytes(tensor.size, tensor.size.count(), tensor.size.count());
    }
    if (column == 2) return read_enum(tensor.role);
    if (!json_.read_name(text)) return false;
    const std::optional<TensorType> type = parse_tensor_type(text);
    if (!type) {
      return json_.fail(ErrorCode::invalid, "expected a type such as \"f32[1,3,<=100]\", found " + quoted(text, 40));
    }
    tensor.dtype = type->dtype;
    tensor.shape = type->shape;
    return true;
  });
}

bool PlanReader::read_buffer(Buffer& buffer) {
  std::optional<RegionId> region;
  return json_.read_row(form::kBufferColumns, [&](std::size_t column) {
    switch (column) {
      case 0: return read_enum(buffer.kind);
      case 1: return read_bytes(buffer.size);
      case 2: return read_id("a step", buffer.lifespan.begin);
      case 3: return read_id("a step", buffer.lifespan.end);
      case 4: return read_optional_id("a region", region);
      case 5:
        if (json_.accept_null()) {
          buffer.home = region;
          return true;
        }
        if (!region) return json_.fail_expected("null, since the region is null");
        return read_offset(buffer.placement.emplace(Placement{*region, Offset()}).offset);
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

bool PlanReader::read_stream(Stream& stream) {
  return json_.read_row(form::kStreamColumns, [&](std::size_t column) {
    return column == 0 ? read_optional_id("a worker, or null", stream.worker)
                       : read_optional_id("a link, or null", stream.link);
  });
}

bool PlanReader::read_value(ReadValue& row) {
  return json_.read_row(form::kValueColumns, [&](std::size_t column) {
    if (column == 0) return read_id("a tensor", row.value.tensor);
    if (column == 1) return read_optional_id("a step", row.value.written);
    if (column == 2) return read_id("a buffer", row.place.buffer);
    return read_offset(row.place.offset);
  });
}

// The program holds one half of each row, and the layout holds the other.
bool PlanReader::read_values(Plan& plan) {
  std::vector<ReadValue> rows;
  if (!read_table(limits::kMaxTensors, rows, &PlanReader::read_value)) return false;
  for (const ReadValue& row : rows) {
    plan.program.values.push_back(row.value);
    plan.layout.values.push_back(row.place);
  }
  return true;
}

bool PlanReader::read_steps(Plan& plan) {
  std::vector<ReadStep> rows;
  if (!read_table(limits::kMaxTensors, rows, &PlanReader::read_step)) return false;
  for (ReadStep& row : rows) {
    plan.program.steps.push_back(std::move(row.step));
    plan.layout.steps.push_back(std::move(row.space));
  }
  return true;
}

// The kind is the first column and determines which others are null.
bool PlanReader::read_step(ReadStep& row) {
  std::string kind;
  return json_.read_row(form::kStepColumns, [&](std::size_t column) {
    Step& step = row.step;
    switch (column) {
      case 0:
        if (!json_.read_name(kind)) return false;
        if (kind == "compute") return step.work = Compute{}, true;
        if (kind == "alias") return step.work = Alias{}, true;
        if (kind == "copy") return step.work = Copy{}, true;
        return json_.fail(ErrorCode::invalid, "expected compute, alias or copy, found " + quoted(kind, 40));
      case 1:
        if (Compute* compute = std::get_if<Compute>(&step.work)) return read_id("a node", compute->node);
        if (Alias* alias = std::get_if<Alias>(&step.work)) return read_id("a node", alias->node);
        return json_.accept_null() || json_.fail_expected("null, since a copy has no node");
      case 2:
        if (Compute* compute = std::get_if<Compute>(&step.work)) return read_id("a kernel", compute->kernel);
        return json_.accept_null() || json_.fail_expected("null, since only compute steps have a kernel");
      case 3:
        if (Copy* copy = std::get_if<Copy>(&step.work)) return read_range(copy->bytes);
        return json_.accept_null() || json_.fail_expected("null, since only copies have a range of bytes");
      case 4: return read_ids("a value", step.reads);
      case 5: return read_ids("a value", step.writes);
      case 6: return read_optional_id("a buffer", row.space.scratch);
      case 7: return read_id("a stream", step.stream);
      default: return read_ids("a step", step.after);
    }
  });
}

bool PlanReader::read_range(Interval<std::int64_t>& bytes) {
  return json_.read_row(form::kRangeColumns, [&](std::size_t column) {
    return json_.read_integer("a number of bytes", 0, limits::kMaxArenaBytes, column == 0 ? bytes.begin : bytes.end);
  });
}

bool PlanReader::read_bytes(Bytes& bytes, std::int64_t least, std::int64_t most) {
  std::int64_t count = 0;
  if (!json_.read_integer("a number of bytes", least, most, count)) return false;
  bytes = Bytes(count);
  return true;
}

bool PlanReader::read_offset(Offset& offset) {
  std::int64_t position = 0;
  if (!json_.read_integer("an offset in bytes", 0, limits::kMaxArenaBytes, position)) return false;
  offset = Offset(position);
  return true;
}

}  // namespace lowtide::plan_internal
