// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_writer/source_facts.h"

#include <algorithm>

#include "lowtide/base/checked.h"
#include "lowtide/c_source/c_writer/names.h"

namespace lowtide::c_writer_internal {
namespace {

template <typename All>
std::vector<std::string> names_of(const All& all) {
  std::vector<std::string> names;
  for (const auto& one : all) names.push_back(one.name);
  return names;
}

// What is in parentheses at the end of a name is for comments only: "weights of CONV_2D 3 (conv1)".
std::vector<std::string> short_names_of(const std::vector<CConstant>& constants) {
  std::vector<std::string> names;
  for (const CConstant& constant : constants) names.push_back(constant.name.substr(0, constant.name.find(" (")));
  return names;
}

}  // namespace

std::string SourceFacts::arena_parameter() const { return options.reentrant ? prefix + "_context *context" : "void"; }

SourceFacts facts_of(const CProgram& program, const CSourceOptions& options) {
  const std::string prefix = options.name.empty() ? prefix_of(program.name) : options.name;
  SourceFacts facts{.program = program,
                    .options = options,
                    .prefix = prefix,
                    .capitals = in_capitals(prefix),
                    .inputs = identifier_parts(names_of(program.inputs), "x"),
                    .outputs = identifier_parts(names_of(program.outputs), "y"),
                    .constants = identifier_parts(short_names_of(program.constants), "constant"),
                    .blob_offsets = {},
                    .weights = {}};
  for (std::string& name : facts.constants) name = facts.prefix + "_data_" + name;
  Offset end;
  Bytes sum;
  for (const CConstant& constant : program.constants) {
    const Bytes size(static_cast<std::int64_t>(constant.bytes.size()));
    end = round_up(end, kCAlignment);
    facts.blob_offsets.push_back(end.position());
    end = end + size;
    sum += size;
  }
  facts.weights = options.weights_as_blob ? end - Offset() : sum;
  facts.has_states = std::ranges::any_of(program.tensors, &CTensor::is_state);
  return facts;
}

std::string define_text(const SourceFacts& facts, std::string_view name, const std::string& value) {
  return "#define " + facts.capitals + "_" + std::string(name) + (value.empty() ? "" : " " + value) + "\n";
}

std::string block_comment(const std::vector<std::string>& lines) {
  std::string text = "/*\n";
  for (const std::string& line : lines) text += line.empty() ? " *\n" : " * " + line + "\n";
  return text + " */\n";
}

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count = must_multiply(count, extent);
  return count;
}

}  // namespace lowtide::c_writer_internal
