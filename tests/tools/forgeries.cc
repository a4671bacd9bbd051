// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tools/forgeries.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <regex>
#include <string_view>
#include <utility>

#include "lowtide/graph/text.h"

namespace lowtide::testing {
namespace {

// A type in the text form of a graph.
struct DeclaredType {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string line;  // that it is in
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The types outside of quotes: ": f32[2,3]".
std::vector<DeclaredType> declared_types(const std::string& text) {
  std::vector<DeclaredType> all;
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && is_quoted)
      ++at;
    else if (text[at] == '"')
      is_quoted = !is_quoted;
    else if (!is_quoted && text[at] == '[' && at > 0 && is_word(text[at - 1])) {
      std::size_t begin = at;
      while (begin > 0 && is_word(text[begin - 1])) --begin;
      const std::size_t end = text.find(']', at) + 1;
      if (!parse_tensor_type(text.substr(begin, end - begin))) continue;
      const std::size_t line = text.rfind('\n', begin) + 1;
      all.push_back({begin, end, text.substr(line, text.find('\n', begin) - line)});
    }
  }
  return all;
}

Shape with_extents(const Shape& like, std::vector<std::int64_t> extents, int shift) {
  Shape shape(std::move(extents));
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis - shift >= 0 && axis - shift < like.rank() && like.is_at_most(axis - shift)) shape.mark_at_most(axis);
  }
  return shape;
}

DType of_other_size(DType dtype) {
  switch (dtype) {
    case DType::f32: return DType::f16;
    case DType::i64: return DType::i32;
    case DType::i32: return DType::i64;
    case DType::f16: return DType::f32;
    default: return DType::i32;
  }
}

std::vector<TensorType> forged_types(const TensorType& honest) {
  std::vector<TensorType> all;
  const std::vector<std::int64_t>& extents = honest.shape.extents();
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    for (const std::int64_t change : {1, -1}) {
      std::vector<std::int64_t> other = extents;
      other[axis] += change;
      if (other[axis] >= 0) all.push_back({honest.dtype, with_extents(honest.shape, other, 0)});
    }
  }
  std::vector<std::int64_t> more = extents;
  more.insert(more.begin(), 1);
  all.push_back({honest.dtype, with_extents(honest.shape, more, 1)});
  if (!extents.empty()) {
    const std::vector<std::int64_t> less(extents.begin() + 1, extents.end());
    all.push_back({honest.dtype, with_extents(honest.shape, less, -1)});
  }
  for (const DType dtype : {of_other_size(honest.dtype), DType::i8}) {
    if (bits_of(dtype) != bits_of(honest.dtype)) all.push_back({dtype, honest.shape});
  }
  return all;
}

std::string role_of(const std::string& line) {
  const std::string_view begin = std::string_view(line).substr(std::min(line.find_first_not_of(' '), line.size()));
  for (const std::string_view role : {"input", "constant", "state"}) {
    if (begin.starts_with(role)) return std::string(role);
  }
  return begin.starts_with("capture") ? "captured" : "result";
}

void add_types(const std::string& text, std::vector<Forgery>& all) {
  for (const DeclaredType& declared : declared_types(text)) {
    const std::string was = text.substr(declared.begin, declared.end - declared.begin);
    for (const TensorType& forged : forged_types(*parse_tensor_type(was))) {
      const std::string type = print_tensor_type(forged.dtype, forged.shape);
      std::string other = text;
      other.replace(declared.begin, declared.end - declared.begin, type);
      all.push_back({std::move(other), role_of(declared.line), was + " as " + type + " in: " + declared.line});
    }
  }
}

// The lines of a text, with where they begin.
std::vector<std::pair<std::size_t, std::string>> lines_of(const std::string& text) {
  std::vector<std::pair<std::size_t, std::string>> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(begin, text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Values of other kinds than the written one has.
std::vector<std::string> other_values(const std::string& written) {
  std::vector<std::string> all{
      "int[]",  "-9223372036854775808", "9223372036854775807", "-0.5", "\"a\"", "[9223372036854775807, -1]", "[0.5]",
      "[\"a\"]"};
  std::erase(all, written);
  return all;
}

// Attributes are "name = value" behind a brace or a comma. Texts with one of these may lead to texts that are not
// graphs.
void add_attributes(const std::string& text, std::vector<Forgery>& all) {
  static const std::regex attribute(R"(([{,] )?(\w+) = (\[[^\]]*\]|"[^"]*"|[^\s,}]+))");
  for (const auto& [begin, line] : lines_of(text)) {
    const std::size_t brace = line.find(" {");
    if (brace == std::string::npos || line.find('=') > brace) continue;
    for (auto found = std::sregex_iterator(line.begin() + static_cast<std::ptrdiff_t>(brace), line.end(), attribute);
         found != std::sregex_iterator(); ++found) {
      const auto name = begin + brace + static_cast<std::size_t>(found->position(2));
      const auto value = begin + brace + static_cast<std::size_t>(found->position(3));
      const auto add = [&](std::size_t at, const std::string& was, const std::string& now) {
        std::string other = text;
        other.replace(at, was.size(), now);
        all.push_back({std::move(other), "attribute", "attribute " + was + " as " + now + " in: " + line});
      };
      add(name, found->str(2), found->str(2) + "_");
      for (const std::string& now : other_values(found->str(3))) add(value, found->str(3), now);
    }
  }
}

// The parts of a list, which are separated by ", ".
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(", ", begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "" : ", ") + part;
  return list;
}

// A text without a result: `_` is in its place, in lists of operands as well, and no list of outputs has it.
std::string without_result(const std::string& text, const std::string& line, std::size_t result) {
  const std::size_t first = line.find_first_not_of(' ');
  const std::size_t equals = line.find(" = ");
  const std::size_t colon = line.rfind(" : ");
  std::vector<std::string> names = parts_of(line.substr(first, equals - first));
  std::vector<std::string> types = parts_of(line.substr(colon + 3));
  const std::string name = std::exchange(names[result], "_");
  types.erase(types.begin() + static_cast<std::ptrdiff_t>(result));
  const std::regex operand(R"(([(]|, ))" + name + R"((?=[,)]))");
  std::string other;
  for (const auto& [begin, old] : lines_of(text)) {
    std::string now = old;
    const std::size_t word = old.find_first_not_of(' ');
    if (old == line) {
      now = joined(names) + line.substr(equals, colon - equals) + (types.empty() ? "" : " : " + joined(types));
    } else if (word != std::string::npos && old.compare(word, 7, "output ") == 0) {
      std::vector<std::string> outputs = parts_of(old.substr(word + 7));
      std::erase(outputs, name);
      now = outputs.empty() ? "" : "output " + joined(outputs);
    } else {
      now = std::regex_replace(old, operand, "$1_");
    }
    other += now + "\n";
  }
  return other;
}

void add_omitted_results(const std::string& text, std::vector<Forgery>& all) {
  static const std::regex node(R"( *(\w+(, \w+)*) = [\w:."]+\(.* : [^{}"]+)");
  for (const auto& [begin, line] : lines_of(text)) {
    std::smatch found;
    if (!std::regex_match(line, found, node)) continue;
    const std::vector<std::string> names = parts_of(found.str(1));
    if (parts_of(line.substr(line.rfind(" : ") + 3)).size() != names.size()) continue;
    for (std::size_t result = 0; result < names.size(); ++result) {
      if (names[result] == "_") continue;
      all.push_back({without_result(text, line, result), "omitted", "omitted " + names[result] + " in: " + line});
    }
  }
}

}  // namespace

std::vector<Forgery> forgeries_of(const std::string& text) {
  std::vector<Forgery> all;
  add_types(text, all);
  add_attributes(text, all);
  add_omitted_results(text, all);
  return all;
}

}  // namespace lowtide::testing
