// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string_view>
#include <utility>

#include "lowtide/base/thousands.h"
#include "lowtide/c_source/c_writer/drawing.h"
#include "lowtide/c_source/c_writer/literals.h"
#include "lowtide/c_source/c_writer/names.h"
#include "lowtide/c_source/c_writer/source_facts.h"

namespace lowtide::c_writer_internal {
namespace {

// A macro that the user may define first.
std::string default_of(const SourceFacts& facts, std::string_view name, const std::string& value) {
  return "#ifndef " + facts.capitals + "_" + std::string(name) + "\n" + define_text(facts, name, value) + "#endif\n";
}

std::string elements_of(const CTensor& tensor) {
  return with_thousands(element_count(tensor.shape)) + " of type " + std::string(to_string(tensor.type));
}

std::string usage(const SourceFacts& facts) {
  const CProgram& program = facts.program;
  const std::string context = facts.options.reentrant ? "&context" : "";
  const std::string weights = facts.options.weights_as_blob ? (context.empty() ? "weights" : ", weights") : "";
  std::vector<std::string> lines = {facts.prefix + ", a neural network in C99, written by " + facts.options.tool + ".",
                                    "Model: " + comment_text(program.name)};
  if (facts.options.weights_as_blob) lines.emplace_back("The constants are in weights.bin.");
  lines.emplace_back();
  if (facts.options.reentrant) lines.push_back("    static " + facts.prefix + "_context context;");
  lines.push_back("    " + facts.prefix + "_init(" + context + weights + ");  once, before the first run");
  for (std::size_t at = 0; at < program.inputs.size(); ++at) {
    lines.push_back("    write " + facts.prefix + "_input_" + facts.inputs[at] + "(" + context + ")  " +
                    elements_of(program.tensors[program.inputs[at].tensor]));
  }
  lines.push_back("    " + facts.prefix + "_run(" + context + ");");
  for (std::size_t at = 0; at < program.outputs.size(); ++at) {
    lines.push_back("    read " + facts.prefix + "_output_" + facts.outputs[at] + "(" + context + ")  " +
                    elements_of(program.tensors[program.outputs[at].tensor]));
  }
  for (const char* line :
       {"", "Inputs and outputs are in the arena, where later calls of a run reuse the bytes of inputs. So all inputs",
        "must be written before each run. Outputs are valid until the next input is written.", "",
        "The arena, by offset (rows) and call of the run (columns):", ""}) {
    lines.emplace_back(line);
  }
  for (std::string& line : drawing_of(program)) lines.push_back(std::move(line));
  return block_comment(lines);
}

std::string memory_text(const SourceFacts& facts) {
  const std::string& name = facts.capitals;
  std::string text = "/* Bytes of RAM that a run needs beside the stack, and bytes of constants. */\n" +
                     define_text(facts, "ARENA_BYTES", std::to_string(facts.program.arena.count())) +
                     define_text(facts, "WEIGHTS_BYTES", std::to_string(facts.weights.count())) +
                     "\n/* The largest arena that is allowed; define it to check that of this model. */\n";
  if (facts.options.budget) text += default_of(facts, "ARENA_BUDGET", std::to_string(facts.options.budget->count()));
  text += "#ifdef " + name + "_ARENA_BUDGET\n#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n" +
          "_Static_assert(" + name + "_ARENA_BYTES <= " + name + "_ARENA_BUDGET, \"the arena of " + facts.prefix +
          " exceeds the budget\");\n#else\ntypedef char " + facts.prefix + "_arena_exceeds_the_budget[(" + name +
          "_ARENA_BYTES <= " + name + "_ARENA_BUDGET) ? 1 : -1];\n#endif\n#endif\n\n";
  if (!facts.options.reentrant) {
    text += "/* Attributes of the arena, such as its section and its alignment. */\n#ifndef " + name +
            "_ARENA_ATTRIBUTES\n#ifdef __GNUC__\n" +
            define_text(facts, "ARENA_ATTRIBUTES", "__attribute__((aligned(16)))") + "#else\n" +
            define_text(facts, "ARENA_ATTRIBUTES", "") + "#endif\n#endif\n";
  }
  if (!facts.options.weights_as_blob) {
    text += "/* Attributes of each array of constants, such as a section. */\n" +
            default_of(facts, "WEIGHTS_ATTRIBUTES", "");
  }
  return text + "\n";
}

std::string arena_type(const SourceFacts& facts) {
  // C has no arrays without elements. A number of 64 bits aligns the bytes for all types of programs.
  const std::string bytes = facts.program.arena > Bytes(0) ? facts.capitals + "_ARENA_BYTES" : "1";
  const std::string indent = facts.options.reentrant ? "  " : "";
  const std::string type =
      "union {\n" + indent + "  uint8_t bytes[" + bytes + "];\n" + indent + "  int64_t alignment;\n" + indent + "}";
  if (facts.options.reentrant) {
    return "/* What one instance of the model keeps. */\ntypedef struct {\n  " + type + " arena;\n" +
           (facts.options.weights_as_blob ? "  const uint8_t *weights;\n" : "") + "} " + facts.prefix + "_context;\n\n";
  }
  return "/*\n * With " + facts.capitals + "_EXTERNAL_ARENA, the program that uses the model defines the arena:\n *\n" +
         " *     " + facts.prefix + "_arena_type " + facts.prefix + "_arena;\n */\ntypedef " + type + " " +
         facts.prefix + "_arena_type;\n#ifdef " + facts.capitals + "_EXTERNAL_ARENA\nextern " + facts.prefix +
         "_arena_type " + facts.prefix + "_arena;\n#endif\n\n";
}

std::string port_text(const SourceFacts& facts, const CPort& port, const std::string& head, const std::string& type) {
  const CTensor& tensor = facts.program.tensors[port.tensor];
  const std::string macro = in_capitals(head);
  std::string text = "/* " + comment_text(port.name) + " */\n";
  text += define_text(facts, macro + "_ELEMENTS", std::to_string(element_count(tensor.shape)));
  text += define_text(facts, macro + "_BYTES", std::to_string(tensor.size.count()));
  text += define_text(facts, macro + "_RANK", std::to_string(tensor.shape.size()));
  std::string dims;
  for (const std::int64_t extent : tensor.shape) dims += (dims.empty() ? "" : ", ") + std::to_string(extent);
  if (!dims.empty()) text += define_text(facts, macro + "_DIMS", "{" + dims + "}");
  if (tensor.quantization) {
    text += define_text(facts, macro + "_SCALE", literal(tensor.quantization->scale));
    text += define_text(facts, macro + "_ZERO_POINT", "(" + std::to_string(tensor.quantization->zero_point) + ")");
  }
  return text + type + std::string(to_string(tensor.type)) + " *" + facts.prefix + "_" + head + "(" +
         facts.arena_parameter() + ");\n\n";
}

std::string function_declarations(const SourceFacts& facts) {
  std::string parameters = facts.arena_parameter();
  std::string weights_line;
  if (facts.options.weights_as_blob) {
    parameters = facts.options.reentrant ? parameters + ", const void *weights" : "const void *weights";
    weights_line = " *\n * weights: the " + facts.capitals + "_WEIGHTS_BYTES bytes of weights.bin, at a multiple of " +
                   std::to_string(kCAlignment.count()) + ". They must stay there.\n";
  }
  const bool has_work = facts.has_states || facts.options.weights_as_blob;
  return "/*\n * Prepares " +
         std::string(has_work ? "the first run, and begins again with the first states."
                              : "the first run. This model keeps nothing from run to run.") +
         "\n" + weights_line + " */\nvoid " + facts.prefix + "_init(" + parameters +
         ");\n\n/* Runs the model once. */\nvoid " + facts.prefix + "_run(" + facts.arena_parameter() + ");\n\n";
}

}  // namespace

std::string header_text(const SourceFacts& facts) {
  const CProgram& program = facts.program;
  const std::string guard = facts.capitals + "_MODEL_H";
  std::string text = usage(facts) + "#ifndef " + guard + "\n#define " + guard + "\n\n#include <stdint.h>\n\n" +
                     "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" + memory_text(facts) + arena_type(facts) +
                     function_declarations(facts);
  for (std::size_t at = 0; at < program.inputs.size(); ++at) {
    text += port_text(facts, program.inputs[at], "input_" + facts.inputs[at], "");
  }
  for (std::size_t at = 0; at < program.outputs.size(); ++at) {
    text += port_text(facts, program.outputs[at], "output_" + facts.outputs[at], "const ");
  }
  if (!facts.options.weights_as_blob && !program.constants.empty()) {
    text += "/* For model.c and weights.c only. */\n#ifdef " + facts.capitals + "_IMPLEMENTATION\n";
    for (std::size_t at = 0; at < program.constants.size(); ++at) {
      text += "extern " + constant_declaration(facts, at) + ";\n";
    }
    text += "#endif\n\n";
  }
  return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace lowtide::c_writer_internal
