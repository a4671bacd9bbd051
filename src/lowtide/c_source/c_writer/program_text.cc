// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

#include "lowtide/base/check.h"
#include "lowtide/c_source/c_kernels/c_kernel.h"
#include "lowtide/c_source/c_kernels/c_kernels.h"
#include "lowtide/c_source/c_writer/literals.h"
#include "lowtide/c_source/c_writer/names.h"
#include "lowtide/c_source/c_writer/source_facts.h"

namespace lowtide::c_writer_internal {
namespace {

std::string line_comment(const std::string& text) { return "/* " + text + " */\n"; }

// Where the arena is: its definition, or the begin of functions that take a context.
std::string arena_definition(const SourceFacts& facts) {
  if (facts.options.reentrant) return "";
  const std::string name = facts.prefix + "_arena";
  return "#ifndef " + facts.capitals + "_EXTERNAL_ARENA\nstatic " + name + "_type " + name + " " + facts.capitals +
         "_ARENA_ATTRIBUTES;\n#endif\n\n";
}

// The bytes at an offset of the arena, as a pointer to a type.
std::string arena_pointer(const SourceFacts& facts, const std::string& type, Offset offset) {
  const std::string arena = facts.options.reentrant ? "context->arena.bytes" : facts.prefix + "_arena.bytes";
  const std::string address = "&" + arena + "[" + std::to_string(offset.position()) + "]";
  return "(" + type + " *)" + (type.ends_with("void") ? "" : "(void *)") + address;
}

std::string constant_pointer(const SourceFacts& facts, const std::string& type, std::size_t constant) {
  if (!facts.options.weights_as_blob) {
    // The types agree, or the kernel takes bytes of any type.
    return facts.constants[constant];
  }
  const std::string weights = facts.options.reentrant ? "context->weights" : facts.prefix + "_weights";
  return "(const " + type + " *)(const void *)&" + weights + "[" + std::to_string(facts.blob_offsets[constant]) + "]";
}

// What a call passes for one pointer of its kernel.
class OperandText {
 public:
  OperandText(const SourceFacts& facts, const CPointer& pointer)
      : facts_(facts),
        type_(pointer.type ? to_string(*pointer.type) : "void"),
        prefix_(pointer.is_written ? "" : "const ") {}

  std::string operator()(std::monostate /*none*/) const { return "0"; }
  std::string operator()(CTensorIndex tensor) const {
    return arena_pointer(facts_, prefix_ + type_, facts_.program.tensors[tensor.value].offset);
  }
  std::string operator()(CConstantIndex constant) const { return constant_pointer(facts_, type_, constant.value); }

 private:
  const SourceFacts& facts_;
  std::string type_;
  std::string prefix_;
};

struct ParameterText {
  std::string operator()(std::int32_t number) const { return literal(number); }
  std::string operator()(float number) const { return literal(number); }
  std::string operator()(const std::vector<std::int32_t>& numbers) const { return braced(numbers); }
};

// "call_3": the parameters of a call.
std::string parameters_name(std::size_t call) { return "call_" + std::to_string(call); }

std::string parameters_text(const CCall& call, std::size_t number) {
  std::string text = "static const struct lowtide_" + call.kernel + " " + parameters_name(number) + " = {\n";
  for (const CParameter& parameter : call.parameters) {
    text += "    ." + parameter.name + " = " + std::visit(ParameterText(), parameter.value) + ",\n";
  }
  return text + "};\n";
}

// Such a kernel needs <math.h>, and so may its parameters, which can be infinite.
bool is_about_floats(const CKernel& kernel) {
  return std::ranges::any_of(kernel.members, &CMember::is_real) ||
         std::ranges::any_of(kernel.pointers, [](const CPointer& one) { return one.type == CType::float32; });
}

// The header of CMSIS-NN, and the end of a compilation for processors whose kernels need other scratch.
std::string cmsis_header(std::optional<CmsisSet> set) {
  if (!set) return "";
  const bool is_vector = *set == CmsisSet::vector;
  return std::string("#include \"arm_nnfunctions.h\"\n\n") +
         (is_vector ? "#if !defined(ARM_MATH_MVEI)\n#error \"made for processors with the vector extension"
                    : "#if defined(ARM_MATH_MVEI)\n#error \"made for processors without the vector extension") +
         "; export with --kernels cmsis-nn" + (is_vector ? "" : "-vector") + "\"\n#endif\n\n";
}

// The kernels, with the headers that they need.
std::string kernels_text(const CProgram& program) {
  std::vector<std::string_view> names;
  for (const CCall& call : program.calls) names.emplace_back(call.kernel);
  std::string text;
  for (const std::string_view one : c_texts(names)) text += std::string(one) + "\n";
  // A kernel that is called once would become a part of the run, whose stack is then in use at all calls. A copy of a
  // kernel for two known places in the arena, with elements of two sizes, would be left out by gcc 12 with -O2: there,
  // one pointer is computed from the other, and the writes seem to have no effect. So gcc compiles a kernel as if it
  // did not see its calls.
  const std::set<std::string_view> kernels(names.begin(), names.end());
  for (const std::string_view name : kernels) {
    const std::string head = "static void lowtide_" + std::string(name) + "(";
    const std::size_t at = text.find(head);
    LOWTIDE_CHECK(at != std::string::npos, "the text of a kernel has its function");
    text.replace(at, std::string_view("static").size(), "LOWTIDE_KERNEL");
  }
  const bool needs_math =
      std::ranges::any_of(kernels, [](std::string_view name) { return is_about_floats(*find_c_kernel(name)); });
  return (needs_math ? "#include <math.h>\n\n" : "") + cmsis_header(program.cmsis) +
         std::string(
             "/* Kernels are functions of their own, so that each takes stack only while it runs. */\n"
             "#if defined(__clang__)\n#define LOWTIDE_KERNEL static __attribute__((noinline))\n"
             "#elif defined(__GNUC__) && __GNUC__ >= 8\n#define LOWTIDE_KERNEL static __attribute__((noipa))\n"
             "#elif defined(__GNUC__)\n#define LOWTIDE_KERNEL static __attribute__((noinline, noclone))\n#else\n"
             "#define LOWTIDE_KERNEL static\n#endif\n\n") +
         text;
}

std::string call_text(const SourceFacts& facts, std::size_t number) {
  const CCall& call = facts.program.calls[number];
  const CKernel& kernel = *find_c_kernel(call.kernel);
  std::string arguments = "&" + parameters_name(number);
  for (std::size_t at = 0; at < call.operands.size(); ++at) {
    arguments += ",\n      " + std::visit(OperandText(facts, kernel.pointers[at]), call.operands[at]);
  }
  return "  " + line_comment(std::to_string(number) + ": " + comment_text(call.origin)) + "  lowtide_" + call.kernel +
         "(" + arguments + ");\n";
}

// Copies the initial bytes of states, which are zeros unless the state has others.
std::string state_text(const SourceFacts& facts) {
  std::string text;
  for (std::size_t at = 0; at < facts.program.tensors.size(); ++at) {
    const CTensor& state = facts.program.tensors[at];
    if (!state.is_state || state.size == Bytes(0)) continue;
    const std::string size = std::to_string(state.size.count());
    const std::string to = arena_pointer(facts, "uint8_t", state.offset);
    const std::string from = state.initial.empty() ? "" : "initial_" + std::to_string(at);
    text += "  " + line_comment("state " + comment_text(state.name)) + "  " +
            (from.empty() ? "fill_state(" + to + ", " + size + ");\n"
                          : "copy_state(" + from + ", " + to + ", " + size + ");\n");
  }
  return text;
}

std::string state_helpers(const SourceFacts& facts) {
  bool fills = false;
  std::string arrays;
  for (std::size_t at = 0; at < facts.program.tensors.size(); ++at) {
    const CTensor& state = facts.program.tensors[at];
    if (!state.is_state || state.size == Bytes(0)) continue;
    fills = fills || state.initial.empty();
    if (state.initial.empty()) continue;
    LOWTIDE_CHECK(static_cast<std::int64_t>(state.initial.size()) == state.size.count(), "a state has all its bytes");
    arrays += "static const uint8_t initial_" + std::to_string(at) + "[" + std::to_string(state.initial.size()) +
              "] = {\n" + element_lines(CType::uint8, state.initial) + "};\n";
  }
  std::string text;
  if (fills) {
    text +=
        "static void fill_state(uint8_t *to, int32_t size) {\n  int32_t at;\n"
        "  for (at = 0; at < size; ++at) to[at] = 0;\n}\n\n";
  }
  if (!arrays.empty()) {
    text +=
        "static void copy_state(const uint8_t *from, uint8_t *to, int32_t size) {\n  int32_t at;\n"
        "  for (at = 0; at < size; ++at) to[at] = from[at];\n}\n\n";
  }
  if (arrays.empty()) return text;
  return text + arrays + "\n";
}

// A line for a function that has a context and does not use it.
std::string unused_context(const SourceFacts& facts, const std::string& body) {
  const bool is_unused = facts.options.reentrant && body.find("context->") == std::string::npos;
  return is_unused ? "  (void)context;\n" : "";
}

std::string function_definitions(const SourceFacts& facts) {
  const CProgram& program = facts.program;
  const std::string parameter = facts.arena_parameter();
  std::string init;
  std::string init_parameters = parameter;
  if (facts.options.weights_as_blob) {
    init_parameters = facts.options.reentrant ? parameter + ", const void *weights" : "const void *weights";
    init += "  " + std::string(facts.options.reentrant ? "context->weights" : facts.prefix + "_weights") +
            " = (const uint8_t *)weights;\n";
  }
  init += state_text(facts);
  std::string text =
      "void " + facts.prefix + "_init(" + init_parameters + ") {\n" + unused_context(facts, init) + init + "}\n\n";
  std::string run;
  for (std::size_t at = 0; at < program.calls.size(); ++at) run += call_text(facts, at);
  text += "void " + facts.prefix + "_run(" + parameter + ") {\n" + unused_context(facts, run) + run + "}\n";
  const auto add_port = [&](const CPort& port, const std::string& name, const std::string& qualifier) {
    const CTensor& tensor = program.tensors[port.tensor];
    const std::string type = qualifier + std::string(to_string(tensor.type));
    text += "\n" + type + " *" + facts.prefix + "_" + name + "(" + parameter + ") {\n  return " +
            arena_pointer(facts, type, tensor.offset) + ";\n}\n";
  };
  for (std::size_t at = 0; at < program.inputs.size(); ++at) {
    add_port(program.inputs[at], "input_" + facts.inputs[at], "");
  }
  for (std::size_t at = 0; at < program.outputs.size(); ++at) {
    add_port(program.outputs[at], "output_" + facts.outputs[at], "const ");
  }
  return text;
}

}  // namespace

std::string program_text(const SourceFacts& facts) {
  std::string text =
      block_comment({"The kernels and the run of " + facts.prefix + ", written by " + facts.options.tool + "."});
  const std::string functions = function_definitions(facts);
  const bool uses_arena = functions.find(facts.prefix + "_arena.") != std::string::npos;
  text += define_text(facts, "IMPLEMENTATION", "") + "#include \"model.h\"\n\n" + kernels_text(facts.program) +
          (uses_arena ? arena_definition(facts) : "");
  if (facts.options.weights_as_blob && !facts.options.reentrant) {
    text += "static const uint8_t *" + facts.prefix + "_weights;\n\n";
  }
  for (std::size_t at = 0; at < facts.program.calls.size(); ++at) {
    text += parameters_text(facts.program.calls[at], at);
  }
  return text + "\n" + state_helpers(facts) + functions;
}

}  // namespace lowtide::c_writer_internal
