// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Folds nodes that it reads from standard input, one per line, for compare_fold_with_reference.py. Spaces separate
// numbers and words. Floats are hexadecimal ("0x1.8p+1", "nan", "inf").
//
//   node      type opset #attributes {attribute} #inputs {tensor or "-"} #outputs
//   attribute name (int N | float F | string S | ints #N {N} | tensor T)
//   tensor    dtype rank {extent} {element}                               an element may be "?"
//
// It prints one line per node: for each output a tensor, or "-" if nothing is known of it; or "error" and the message.

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

#include "lowtide/import/onnx/fold/fold.h"

namespace lowtide::import_internal {
namespace {

bool is_real(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

template <typename T>
T read(std::istream& in) {
  T value{};
  if (!(in >> value)) {
    std::cerr << "fold_program: a line is cut short\n";
    std::exit(2);
  }
  return value;
}

double read_real(std::istream& in) { return std::strtod(read<std::string>(in).c_str(), nullptr); }

KnownContent read_tensor(std::istream& in, const std::string& dtype) {
  KnownContent content;
  content.dtype = from_string<DType>(dtype).value();
  std::size_t count = 1;
  for (int rank = read<int>(in); rank > 0; --rank) {
    content.extents.push_back(read<std::int64_t>(in));
    count *= static_cast<std::size_t>(content.extents.back());
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = read<std::string>(in);
    KnownElement& element = content.elements.emplace_back();
    if (word == "?") continue;
    element.knowledge = Knowledge::exact;
    if (is_real(content.dtype)) {
      element.real = std::strtod(word.c_str(), nullptr);
    } else {
      element.integer = std::strtoll(word.c_str(), nullptr, 10);
    }
  }
  return content;
}

void read_attribute(std::istream& in, std::vector<Attribute>& attributes, std::vector<ContentAttribute>& tensors) {
  const auto name = read<std::string>(in);
  const auto kind = read<std::string>(in);
  if (kind == "int") attributes.push_back({name, read<std::int64_t>(in)});
  if (kind == "float") attributes.push_back({name, read_real(in)});
  if (kind == "string") attributes.push_back({name, read<std::string>(in)});
  if (kind == "ints") {
    std::vector<std::int64_t> numbers(read<std::size_t>(in));
    for (std::int64_t& number : numbers) number = read<std::int64_t>(in);
    attributes.push_back({name, numbers});
  }
  if (kind == "tensor") {
    tensors.push_back({name, std::make_shared<const KnownContent>(read_tensor(in, read<std::string>(in)))});
    attributes.push_back({name, OpaqueAttribute{"tensor"}});
  }
}

void write_tensor(std::ostream& out, const KnownContent& content) {
  out << to_string(content.dtype) << " " << content.extents.size();
  for (const std::int64_t extent : content.extents) out << " " << extent;
  for (const KnownElement& element : content.elements) {
    if (element.knowledge != Knowledge::exact) {
      out << " ?";
    } else if (is_real(content.dtype)) {
      out << " " << std::hexfloat << element.real << std::defaultfloat;
    } else {
      out << " " << element.integer;
    }
  }
}

std::string answer(std::istream& in) {
  const auto type = read<std::string>(in);
  const int opset = read<int>(in);
  std::vector<Attribute> attributes;
  std::vector<ContentAttribute> tensors;
  for (int left = read<int>(in); left > 0; --left) read_attribute(in, attributes, tensors);
  std::vector<KnownInput> inputs;
  for (int left = read<int>(in); left > 0; --left) {
    const auto dtype = read<std::string>(in);
    KnownInput& input = inputs.emplace_back();
    if (dtype == "-") continue;
    auto content = std::make_shared<const KnownContent>(read_tensor(in, dtype));
    input.dtype = content->dtype;
    input.extents.emplace();
    for (const std::int64_t extent : content->extents) input.extents->push_back({Knowledge::exact, extent, ""});
    input.content = std::move(content);
  }
  const auto outputs = fold({.domain = "",
                             .type = type,
                             .opset = opset,
                             .attributes = attributes,
                             .inputs = inputs,
                             .output_count = read<std::size_t>(in),
                             .content_attributes = tensors});
  if (!outputs.ok()) return "error " + outputs.error().message;
  std::ostringstream out;
  for (const auto& output : *outputs) {
    if (output == nullptr) {
      out << "- ";
    } else {
      write_tensor(out, *output);
      out << " ";
    }
  }
  return out.str();
}

}  // namespace
}  // namespace lowtide::import_internal

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::cout << lowtide::import_internal::answer(in) << "\n";
  }
  std::cout.flush();
  return std::cout ? 0 : 1;
}
