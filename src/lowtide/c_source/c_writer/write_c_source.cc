// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_writer/write_c_source.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>

#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/thousands.h"
#include "lowtide/c_source/c_kernels/c_kernels.h"
#include "lowtide/c_source/c_writer/source_facts.h"

namespace lowtide {
namespace {

// Kernels count bytes in 32 bits.
constexpr std::int64_t kMostBytes = std::numeric_limits<std::int32_t>::max();

bool is_letter(char one) { return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z'); }

Result<void> check_size(Bytes size, const std::string& what) {
  if (size.count() <= kMostBytes) return {};
  return Error{
      ErrorCode::over_limit,
      what + " of " + with_thousands(size.count()) + " bytes; C source has at most " + with_thousands(kMostBytes), ""};
}

Result<void> check_program(const CProgram& program) {
  for (const CTensor& tensor : program.tensors) {
    const bool is_inside = tensor.offset >= Offset() && tensor.offset.position() % size_of(tensor.type) == 0 &&
                           (tensor.offset + tensor.size) - Offset() <= program.arena;
    LOWTIDE_CHECK(is_inside, "a tensor is inside the arena, and its elements are aligned");
  }
  for (const CConstant& constant : program.constants) {
    const auto elements = c_writer_internal::element_count(constant.shape);
    LOWTIDE_CHECK(static_cast<std::int64_t>(constant.bytes.size()) == must_multiply(elements, size_of(constant.type)),
                  "a constant has as many bytes as its shape says");
  }
  for (const auto* ports : {&program.inputs, &program.outputs}) {
    for (const CPort& port : *ports) LOWTIDE_CHECK(port.tensor < program.tensors.size(), "a port is a tensor");
  }
  for (const CCall& call : program.calls) LOWTIDE_RETURN_IF_ERROR(check_c_call(program, call));
  return {};
}

}  // namespace

bool is_c_prefix(std::string_view name) {
  constexpr std::size_t kMostLetters = 100;
  return !name.empty() && name.size() <= kMostLetters && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char one) { return is_letter(one) || (one >= '0' && one <= '9') || one == '_'; });
}

Result<CSource> write_c_source(const CProgram& program, const CSourceOptions& options) {
  if (!options.name.empty() && !is_c_prefix(options.name)) {
    return Error{ErrorCode::invalid,
                 quoted(options.name, 60) +
                     " cannot begin the names of symbols in C; take a letter, followed by "
                     "letters, digits and underscores, such as 'kws'",
                 ""};
  }
  LOWTIDE_RETURN_IF_ERROR(check_size(program.arena, "the model needs an arena"));
  const c_writer_internal::SourceFacts facts = c_writer_internal::facts_of(program, options);
  LOWTIDE_RETURN_IF_ERROR(check_size(facts.weights, "the model has constants"));
  LOWTIDE_RETURN_IF_ERROR(check_program(program));
  CSource source{.name = facts.prefix,
                 .model_c = c_writer_internal::program_text(facts),
                 .model_h = c_writer_internal::header_text(facts),
                 .weights_c = {},
                 .blob = {},
                 .weights = facts.weights,
                 .kernels = {}};
  if (options.weights_as_blob) {
    source.blob = c_writer_internal::blob_bytes(facts);
  } else {
    source.weights_c = c_writer_internal::weights_text(facts);
  }
  std::set<std::string> kernels;
  for (const CCall& call : program.calls) kernels.insert(call.kernel);
  source.kernels.assign(kernels.begin(), kernels.end());
  return source;
}

}  // namespace lowtide
