// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>

#include "lowtide/c_source/c_writer/literals.h"
#include "lowtide/c_source/c_writer/names.h"
#include "lowtide/c_source/c_writer/source_facts.h"

namespace lowtide::c_writer_internal {

std::string constant_declaration(const SourceFacts& facts, std::size_t constant) {
  const CConstant& data = facts.program.constants[constant];
  // C has no arrays without elements.
  const std::size_t elements =
      std::max<std::size_t>(1, data.bytes.size() / static_cast<std::size_t>(size_of(data.type)));
  return "const " + std::string(to_string(data.type)) + " " + facts.constants[constant] + "[" +
         std::to_string(elements) + "]";
}

std::string weights_text(const SourceFacts& facts) {
  const auto& constants = facts.program.constants;
  std::string text = block_comment({"The constants of " + facts.prefix + ", written by " + facts.options.tool + "."});
  text += "#define " + facts.capitals + "_IMPLEMENTATION\n#include \"model.h\"\n";
  const bool needs =
      std::ranges::any_of(constants, [](const CConstant& one) { return needs_math(one.type, one.bytes); });
  if (needs) text += "\n#include <math.h>\n";
  for (std::size_t at = 0; at < constants.size(); ++at) {
    text += "\n/* " + comment_text(constants[at].name) + " */\n" + facts.capitals + "_WEIGHTS_ATTRIBUTES\n" +
            constant_declaration(facts, at) + " = {\n";
    const std::string lines = element_lines(constants[at].type, constants[at].bytes);
    text += (lines.empty() ? "  0,\n" : lines) + "};\n";
  }
  // A file of C has at least one declaration; that of model.h counts.
  return text;
}

std::string blob_bytes(const SourceFacts& facts) {
  std::string blob;
  for (std::size_t at = 0; at < facts.program.constants.size(); ++at) {
    blob.resize(static_cast<std::size_t>(facts.blob_offsets[at]), '\0');
    blob += facts.program.constants[at].bytes;
  }
  return blob;
}

}  // namespace lowtide::c_writer_internal
