// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/prepared_head.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/base/check.h"
#include "lowtide/base/json_reader.h"
#include "lowtide/base/json_writer.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/text.h"
#include "lowtide/import/import.h"
#include "lowtide/plan/plans_json.h"

namespace lowtide::engine_internal {
namespace {

constexpr std::int64_t kMostLine = 1024;
constexpr std::array<std::string_view, 3> kKeys = {"model_nodes", "default_inputs", "constants"};
constexpr std::array<std::string_view, 4> kConstantColumns = {"id", "name", "type", "offset"};

std::int64_t padded(std::int64_t bytes) {
  return (bytes + kPreparedAlignment - 1) / kPreparedAlignment * kPreparedAlignment;
}

// The bytes of the texts of one plan.
struct PartSizes {
  std::int64_t facts = 0;
  std::int64_t graph = 0;
  std::int64_t plan = 0;

  [[nodiscard]] std::int64_t sum() const { return facts + graph + plan; }
};

// The words of the first line after the version.
struct FirstLine {
  std::int64_t size = 0;         // of the line, with its end
  std::vector<PartSizes> plans;  // at least one
  std::string digest;

  // The bytes of all texts. They do not overflow, because each is limited.
  [[nodiscard]] std::int64_t texts() const {
    std::int64_t sum = 0;
    for (const PartSizes& plan : plans) sum += plan.sum();
    return sum;
  }
  // The end of the heads.
  [[nodiscard]] std::int64_t end() const { return padded(size + texts()); }
};

// A table has an entry for each id up to the largest, so few bytes of a file could ask for much memory.
std::int64_t most_ids_in(std::int64_t head_bytes, std::size_t plans) {
  constexpr std::int64_t kFree = std::int64_t{64} << 20;
  const std::int64_t free = kFree / static_cast<std::int64_t>(plans);
  return (free + 16 * head_bytes) / static_cast<std::int64_t>(sizeof(ConstantSource));
}

constexpr const char* kMakeAgain = "; make it again with: lowtide prepare MODEL -o FILE";

Error damaged(const std::string& path, const std::string& what) {
  return Error{ErrorCode::malformed, what + kMakeAgain, shown_path(path)};
}

void write_texts(std::string_view key, const std::vector<std::string>& texts, JsonWriter& json) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

std::string facts_of(const PreparedHead& head) {
  std::string out;
  JsonWriter json(out);
  json.begin_object(JsonWriter::Layout::lines);
  json.member(kKeys[0], head.model_nodes);
  write_texts(kKeys[1], head.default_inputs, json);
  json.key(kKeys[2]);
  json.begin_array(JsonWriter::Layout::lines);
  for (ConstantId id : all_ids<ConstantId>(head.constants.sources.size())) {
    const ConstantSource& source = head.constants.sources[id];
    const auto* place = std::get_if<ConstantSource::InFile>(&source.where);
    if (place == nullptr) continue;
    json.begin_array();
    json.value(std::int64_t{id.value()});
    json.value(source.name);
    json.value(print_tensor_type(source.dtype, source.shape));
    json.value(place->offset);
    json.end_array();
  }
  json.end_array();
  json.end_object();
  out += '\n';
  return out;
}

// Reads the fields of one constant. `most` limits its id.
bool read_constant(JsonReader& json, std::int64_t most, ConstantTable& table) {
  std::int64_t id = 0;
  std::string type;
  std::string name;
  ConstantSource::InFile place{.file = ConstantFileId(0)};
  const auto read = [&](std::size_t column) {
    if (column == 0) return json.read_integer("an id", 0, most - 1, id);
    if (column == 1) return json.read_name(name);
    if (column == 2) return json.read_name(type);
    return json.read_integer("an offset", 0, limits::kMaxTotalBytes, place.offset);
  };
  if (!json.read_row(kConstantColumns, read)) return false;
  const std::optional<TensorType> known = parse_tensor_type(type);
  if (!known) return json.fail(ErrorCode::malformed, lowtide::quoted(type) + " is not the type of a tensor");
  const Result<Bytes> size = dense_size(known->dtype, known->shape);
  if (!size) return json.fail(size.error().code, size.error().message);
  if (known->shape.has_upper_bounds()) return json.fail(ErrorCode::invalid, "a constant has no upper bounds");
  if (place.offset % kPreparedAlignment != 0) {
    return json.fail(ErrorCode::invalid, "constant " + lowtide::quoted(name) + " is at offset " +
                                             std::to_string(place.offset) + ", which is not a multiple of " +
                                             std::to_string(kPreparedAlignment) + kMakeAgain);
  }
  set_constant(table, ConstantId(static_cast<std::uint32_t>(id)),
               {std::move(name), known->dtype, known->shape, *size, place});
  return true;
}

// Everything of a head but the graph and the plan.
struct Facts {
  std::int64_t model_nodes = 0;
  std::vector<std::string> default_inputs;
  ConstantTable constants;
};

Result<Facts> read_facts(std::string_view text, const std::string& place, std::int64_t most_ids) {
  Facts facts;
  facts.constants.files.push_back("");
  JsonReader json(text, place);
  const auto read_texts = [&json](std::vector<std::string>& texts) {
    return json.read_array([&] { return json.read_name(texts.emplace_back()); });
  };
  const auto read = [&](std::size_t key) {
    if (key == 0) return json.read_integer("a number of nodes", 0, limits::kMaxNodes, facts.model_nodes);
    if (key == 1) return read_texts(facts.default_inputs);
    return json.read_array([&] { return read_constant(json, most_ids, facts.constants); });
  };
  if (!json.read_object(kKeys, read) || !json.read_end()) return *json.error();
  return facts;
}

// The next word of the line, without the space behind it.
std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

Result<FirstLine> read_first_line(std::string_view begin, const std::string& path) {
  const std::size_t end = begin.find('\n');
  if (!begin.starts_with(kPreparedMark) || end == std::string_view::npos)
    return damaged(path, "this is not a prepared file");
  std::string_view rest = begin.substr(kPreparedMark.size(), end - kPreparedMark.size());
  const std::string_view version = next_word(rest);
  if (version != kPreparedOnePlan && version != kPreparedSeveralPlans) {
    return Error{ErrorCode::unsupported,
                 "this prepared file has version " + lowtide::quoted(version, 20) +
                     ", and this program reads the versions " + std::string(kPreparedOnePlan) + " and " +
                     std::string(kPreparedSeveralPlans) + kMakeAgain,
                 shown_path(path)};
  }
  const Error wrong = damaged(path, "the first line of this prepared file is damaged");
  std::int64_t plans = 1;
  if (version == kPreparedSeveralPlans) {
    plans = parse_number(next_word(rest)).value_or(0);
    if (plans < 2 || plans > kMaxPlansPerFile) return wrong;
  }
  FirstLine line{.size = static_cast<std::int64_t>(end + 1),
                 .plans = std::vector<PartSizes>(static_cast<std::size_t>(plans))};
  for (PartSizes& one : line.plans) {
    for (std::int64_t* size : {&one.facts, &one.graph, &one.plan}) {
      const std::optional<std::int64_t> number = parse_number(next_word(rest));
      if (!number || *number > limits::kMaxPlanFileBytes) return wrong;
      *size = *number;
    }
  }
  line.digest = rest;
  return line;
}

// Reads the head of one plan. Constants begin at `end`, and have ids below `most_ids`.
Result<PreparedHead> read_head(std::string_view text, const PartSizes& sizes, const std::string& place,
                               std::int64_t end, std::int64_t most_ids) {
  const auto graph_at = static_cast<std::size_t>(sizes.facts);
  const auto plan_at = graph_at + static_cast<std::size_t>(sizes.graph);
  Result<Facts> facts = read_facts(text.substr(0, graph_at), place + " (facts)", most_ids);
  if (!facts) return facts.error();
  for (ConstantSource& source : facts->constants.sources) {
    if (auto* in_file = std::get_if<ConstantSource::InFile>(&source.where)) in_file->offset += end;
  }
  Result<Graph> graph = parse_graph(text.substr(graph_at, plan_at - graph_at), place + " (graph)");
  if (!graph) return graph.error();
  Result<PlanFile> plan = read_plan_json(text.substr(plan_at), place + " (plan)");
  if (!plan) return plan.error();
  return PreparedHead{facts->model_nodes, std::move(facts->default_inputs), std::move(facts->constants),
                      *std::move(graph), *std::move(plan)};
}

}  // namespace

void set_constant(ConstantTable& table, ConstantId id, ConstantSource source) {
  while (table.sources.size() <= id.value()) {
    table.sources.push_back({"", DType::u8, Shape({0}), Bytes(0), ConstantSource::Inline{}});
  }
  table.sources[id] = std::move(source);
}

Result<std::string> write_prepared_heads(std::span<const PreparedHead> heads) {
  LOWTIDE_CHECK(!heads.empty() && static_cast<std::int64_t>(heads.size()) <= kMaxPlansPerFile,
                "a prepared file has a number of plans that it may have");
  std::string line(kPreparedMark);
  line += heads.size() == 1 ? std::string(kPreparedOnePlan)
                            : std::string(kPreparedSeveralPlans) + " " + std::to_string(heads.size());
  std::string texts;
  for (const PreparedHead& head : heads) {
    const std::string facts = facts_of(head);
    const std::string graph = print_graph(head.graph);
    const std::string plan = write_plan_json(head.plan.plan, head.plan.labels);
    const auto sum = static_cast<std::int64_t>(facts.size() + graph.size() + plan.size());
    if (static_cast<std::int64_t>(graph.size()) > limits::kMaxFileBytes ||
        static_cast<std::int64_t>(plan.size()) > limits::kMaxPlanFileBytes ||
        static_cast<std::int64_t>(head.constants.sources.size()) > most_ids_in(sum, heads.size())) {
      return Error{ErrorCode::over_limit, "the model is too large for a prepared file", ""};
    }
    for (const std::string* part : {&facts, &graph, &plan}) {
      line += " " + std::to_string(part->size());
      texts += *part;
    }
  }
  std::string out = line + " " + text_digest(texts) + "\n" + texts;
  out.resize(static_cast<std::size_t>(padded(static_cast<std::int64_t>(out.size()))), '\n');
  return out;
}

Result<std::vector<PreparedHead>> read_prepared_heads(const std::string& path) {
  const Result<std::string> begin = read_beginning(path, kMostLine);
  if (!begin) return begin.error();
  const Result<FirstLine> line = read_first_line(*begin, path);
  if (!line) return line.error();
  const std::int64_t size = line->size + line->texts();
  LOWTIDE_TRY(const std::string bytes, read_beginning(path, size));
  if (static_cast<std::int64_t>(bytes.size()) < size) {
    return damaged(path, "this prepared file is not complete: its head has " + std::to_string(size) +
                             " bytes, and the file " + std::to_string(bytes.size()));
  }
  std::string_view rest = std::string_view(bytes).substr(static_cast<std::size_t>(line->size));
  if (text_digest(rest) != line->digest) return damaged(path, "the head of this prepared file is damaged");
  std::vector<PreparedHead> heads;
  for (const PartSizes& sizes : line->plans) {
    const bool is_one = line->plans.size() == 1;
    const std::string place = shown_path(path) + (is_one ? "" : ": plan " + std::to_string(heads.size()));
    const auto text_bytes = static_cast<std::size_t>(sizes.sum());
    Result<PreparedHead> head =
        read_head(rest.substr(0, text_bytes), sizes, place, line->end(), most_ids_in(sizes.sum(), line->plans.size()));
    if (!head) return head.error();
    heads.push_back(*std::move(head));
    rest.remove_prefix(text_bytes);
  }
  return heads;
}

}  // namespace lowtide::engine_internal
