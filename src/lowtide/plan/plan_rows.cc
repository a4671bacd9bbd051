// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/quote.h"
#include "lowtide/graph/text.h"
#include "lowtide/plan/plan_reader.h"

// The rows of the tables of a plan file, and the numbers in them.
namespace lowtide::detail {

namespace form = plan_form;

namespace {

constexpr std::size_t kBufferTable = 2;  // in form::kTables

}  // namespace

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

}  // namespace lowtide::detail
