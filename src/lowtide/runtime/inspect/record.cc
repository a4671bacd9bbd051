// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/inspect/record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "lowtide/base/quote.h"
#include "lowtide/runtime/execute/tensors.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

std::uint64_t mixed(std::uint64_t digest, std::uint64_t word) {
  digest = (digest ^ word) * 0x9E3779B97F4A7C15U;
  return digest ^ (digest >> 29U);
}

std::uint64_t digest_of(const BoundTensor& tensor) {
  std::uint64_t digest = 1;
  for (std::int64_t extent : extents_of(tensor)) digest = mixed(digest, static_cast<std::uint64_t>(extent));
  const auto count = static_cast<std::size_t>(bytes_of(tensor));
  for (std::size_t at = 0; at < count; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, *tensor.bytes + at, std::min(sizeof word, count - at));
    digest = mixed(digest, word);
  }
  return digest;
}

template <typename T>
std::string number_text(const std::byte* at, const char* format) {
  T number{};
  std::memcpy(&number, at, sizeof number);
  std::array<char, 40> text{};
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(number)) return "nan";  // without its sign
    std::snprintf(text.data(), text.size(), format, static_cast<double>(number));
  } else {
    std::snprintf(text.data(), text.size(), format, static_cast<long long>(number));
  }
  return text.data();
}

// The element, as a number if its type is common.
std::string element_text(const ValueContent& content, std::size_t begin, std::size_t size) {
  const std::byte* at = content.bytes.data() + begin;
  switch (content.dtype) {
    case DType::f32: return number_text<float>(at, "%.9g");
    case DType::f64: return number_text<double>(at, "%.17g");
    case DType::i64: return number_text<std::int64_t>(at, "%lld");
    case DType::i32: return number_text<std::int32_t>(at, "%lld");
    case DType::i8: return number_text<std::int8_t>(at, "%lld");
    case DType::boolean:
    case DType::u8: return number_text<std::uint8_t>(at, "%lld");
    default: break;
  }
  std::string text = "0x";
  for (std::size_t byte = size; byte-- > 0;) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(at[byte]));
    text += digits.data();
  }
  return text;
}

std::string difference_text(const ValueContent& one, const ValueContent& other) {
  if (one.extents != other.extents) {
    return "its extents are " + to_string(Shape(one.extents)) + " in one run and " + to_string(Shape(other.extents)) +
           " in the other";
  }
  const auto [first, unused] = std::mismatch(one.bytes.begin(), one.bytes.end(), other.bytes.begin());
  const auto size = static_cast<std::size_t>(std::max(bits_of(one.dtype).value_or(8) / 8, 1));
  const std::size_t element = static_cast<std::size_t>(first - one.bytes.begin()) / size;
  if ((element + 1) * size > one.bytes.size()) return "its content changes from run to run";
  return "element " + std::to_string(element) + " is " + element_text(one, element * size, size) + " in one run and " +
         element_text(other, element * size, size) + " in the other";
}

// The name of the value, and the step that writes it.
std::string value_text(const Prepared& prepared, const ValueRecord& record) {
  const PreparedGraph& in = prepared.graphs[record.place.graph];
  const std::string name = quoted(in.graph.tensor(in.plan.program.values[record.value].tensor).name);
  const std::size_t steps = in.plan.program.steps.size();
  if (record.place.step.index() >= steps) return "output " + name + " at the end of the run";
  return place_of(in, record.place.step) + ": " + name;
}

}  // namespace

bool Recorder::note(GraphTables& tables, const RunPlace& place, ValueId value) {
  const BoundTensor tensor = tables.bound(value);
  if (wanted_ == records_.size()) {
    const std::span<const std::int64_t> extents = extents_of(tensor);
    content_ =
        ValueContent{tensor.dtype, {extents.begin(), extents.end()}, {*tensor.bytes, *tensor.bytes + bytes_of(tensor)}};
    return false;
  }
  records_.push_back({place, value, digest_of(tensor)});
  return true;
}

bool completes(const PreparedGraph& in, StepId step, ValueId value) {
  return !is_copy(in.plan.program.steps[step]) || in.plan.program.values[value].written == step;
}

bool Recorder::note_step(const AllTables& tables, const RunPlace& place) {
  GraphTables& of = *tables[place.graph.index()];
  return std::ranges::all_of(of.graph().plan.program.steps[place.step].writes, [&](ValueId value) {
    return !completes(of.graph(), place.step, value) || note(of, place, value);
  });
}

void Recorder::note_outputs(const AllTables& tables) {
  GraphTables& of = *tables.front();
  const Program& program = of.graph().plan.program;
  const RunPlace end{kMainGraph, StepId(static_cast<std::uint32_t>(program.steps.size()))};
  for (ValueId value : program.outputs) {
    if (!note(of, end, value)) return;
  }
}

Result<std::optional<Difference>> first_difference(const Prepared& prepared, const RecordedRun& one,
                                                   const RecordedRun& other) {
  Recorder first;
  Recorder second;
  LOWTIDE_RETURN_IF_ERROR(one(first));
  LOWTIDE_RETURN_IF_ERROR(other(second));
  const std::size_t common = std::min(first.records().size(), second.records().size());
  std::size_t at = 0;
  while (at < common && first.records()[at] == second.records()[at]) ++at;
  if (at == first.records().size() && at == second.records().size()) return std::optional<Difference>();
  const Recorder& longer = at < first.records().size() ? first : second;
  const std::string value = value_text(prepared, longer.records()[at]);
  const bool is_same_step = at < common && first.records()[at].place == second.records()[at].place;
  if (!is_same_step) return std::optional(Difference{value, "only one of the runs comes to this step"});
  Recorder first_content(at);
  Recorder second_content(at);
  LOWTIDE_RETURN_IF_ERROR(one(first_content));
  LOWTIDE_RETURN_IF_ERROR(other(second_content));
  if (!first_content.content() || !second_content.content()) {
    return std::optional(Difference{value, "its content changes from run to run"});
  }
  return std::optional(Difference{value, difference_text(*first_content.content(), *second_content.content())});
}

}  // namespace lowtide::runtime_internal
