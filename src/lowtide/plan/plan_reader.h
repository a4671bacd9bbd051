// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/base/json_reader.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/plan/plan_check.h"
#include "lowtide/plan/plan_form.h"

namespace lowtide::plan_internal {

// A row of "values" or "steps". The program has one half of it, the layout the other.
struct ReadValue {
  Value value;
  ValuePlace place;
};
struct ReadStep {
  Step step;
  StepSpace space;
};

// Reads the members and rows of a plan file, with one function each. The first error is kept in `error`, with its path.
class PlanReader {
 public:
  PlanReader(std::string_view text, const std::string& source_name) : json_(text, source_name) {}

  // Reads the whole text to check that it is JSON and has a supported version. So neither a syntax error nor a key of
  // another version is reported as an unknown key.
  bool check_version();
  bool read(ReadFile& file);
  [[nodiscard]] const std::optional<Error>& error() const { return json_.error(); }

 private:
  bool read_member(std::string_view name, ReadFile& file);
  bool read_constant(std::string_view wanted);
  bool read_features(std::vector<std::string_view>& features);
  bool read_columns();
  bool read_machine(Machine& machine);
  bool read_link(Link& link);
  bool read_worker(Worker& worker);
  bool read_kernel(PlannedKernel& kernel);
  bool read_bound(Bound& bound);
  bool read_provenance(Provenance& provenance);
  bool read_region(Region& region);
  bool read_claims(Claims& claims);
  bool read_plan_member(std::string_view key, Plan& plan);
  bool read_labels_member(std::string_view key, Labels& labels);
  bool read_node(NodeLabel& node);
  bool read_tensor(TensorLabel& tensor);
  bool read_buffer(Buffer& buffer);
  bool read_part(BufferPart& part);
  bool read_stream(Stream& stream);
  bool read_value(ReadValue& value);
  bool read_step(ReadStep& step);
  bool read_range(Interval<std::int64_t>& bytes);
  bool read_values(Plan& plan);
  bool read_steps(Plan& plan);
  bool read_body(ReadLabels& body);
  bool read_body_plan(ReadPlan& body);
  bool read_parent(std::optional<std::uint32_t>& parent);

  // Reads the name of a value of the enum.
  template <NamedEnum Enum>
  bool read_enum(Enum& value);
  bool read_bytes(Bytes& bytes, std::int64_t least = 0, std::int64_t most = limits::kMaxArenaBytes);
  bool read_offset(Offset& offset);
  template <typename Tag>
  bool read_id(std::string_view what, Id<Tag>& id);
  template <typename Tag>
  bool read_ids(std::string_view what, std::vector<Id<Tag>>& ids);
  template <typename Tag>
  bool read_optional_id(std::string_view what, std::optional<Id<Tag>>& id);

  // Reads an array of at most `most` rows.
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

  JsonReader json_;
};

template <NamedEnum Enum>
bool PlanReader::read_enum(Enum& value) {
  std::string name;
  if (!json_.read_name(name)) return false;
  const std::optional<Enum> known = from_string<Enum>(name);
  if (!known) return json_.fail(ErrorCode::invalid, "expected " + choices_of<Enum>() + ", found " + quoted(name, 40));
  value = *known;
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
  ids.shrink_to_fit();  // there may be millions of lists, most with one or two ids
  return ok;
}

template <typename Tag>
bool PlanReader::read_optional_id(std::string_view what, std::optional<Id<Tag>>& id) {
  return json_.accept_null() || read_id(what, id.emplace());
}

}  // namespace lowtide::plan_internal
