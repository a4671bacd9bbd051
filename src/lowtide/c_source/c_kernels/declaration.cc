// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_kernels/declaration.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>

#include "lowtide/base/check.h"

namespace lowtide::c_kernels_internal {
namespace {

// Takes what is before the next `end` off the text, and that end.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  LOWTIDE_CHECK(at != std::string_view::npos, "a file of a kernel has the form that declaration.h describes");
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return taken;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (const std::string_view part = trimmed(text.substr(begin, end - begin)); !part.empty()) parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

CMember member_of(std::string_view declaration) {
  CMember member;
  const std::string_view type = take_until(declaration, " ");
  LOWTIDE_CHECK(type == "int32_t" || type == "float", "a member of a kernel's struct is an int32_t or a float");
  member.is_real = type == "float";
  const std::size_t bracket = declaration.find('[');
  member.name = declaration.substr(0, bracket);
  if (bracket != std::string_view::npos) {
    const std::string_view number = declaration.substr(bracket + 1, declaration.size() - bracket - 2);
    std::int64_t length = 0;
    std::from_chars(number.data(), number.data() + number.size(),
                    length);  // NOLINT(bugprone-suspicious-stringview-data-usage)
    LOWTIDE_CHECK(length > 0 && !member.is_real, "an array in a kernel's struct has integers, and a length");
    member.length = length;
  }
  return member;
}

std::optional<CType> pointed_type(std::string_view name) {
  if (name == "void") return std::nullopt;
  const std::optional<CType> type = from_string<CType>(name);
  LOWTIDE_CHECK(type.has_value(), "a kernel has pointers to elements of a C program");
  return type;
}

}  // namespace

Declaration read_declaration(std::string_view file) {
  Declaration declaration;
  std::string_view head = take_until(file, "\n\n");
  declaration.text = file;
  for (std::string_view line : split(head, '\n')) {
    for (const auto& [key, names] : {std::pair{"// uses: ", &declaration.uses},
                                     {"// null: ", &declaration.null},
                                     {"// in place: ", &declaration.in_place}}) {
      if (line.starts_with(key)) *names = split(line.substr(std::string_view(key).size()), ' ');
    }
  }
  return declaration;
}

std::vector<CMember> read_members(std::string_view name, std::string_view text) {
  take_until(text, "struct lowtide_" + std::string(name) + " {\n");
  std::vector<CMember> members;
  for (std::string_view line : split(take_until(text, "\n};"), '\n')) {
    if (!line.starts_with("//")) members.push_back(member_of(take_until(line, ";")));
  }
  return members;
}

std::vector<CPointer> read_pointers(std::string_view name, const Declaration& declaration) {
  std::string_view text = declaration.text;
  take_until(text, "static void lowtide_" + std::string(name) + "(");
  std::vector<CPointer> pointers;
  for (std::string_view parameter : split(take_until(text, ")"), ',')) {
    constexpr std::string_view kConst = "const ";
    CPointer pointer{.is_written = !parameter.starts_with(kConst)};
    if (!pointer.is_written) parameter.remove_prefix(kConst.size());
    if (parameter.starts_with("struct ")) continue;
    pointer.type = pointed_type(take_until(parameter, " *"));
    pointer.name = parameter;
    pointer.may_be_null = contains(declaration.null, parameter);
    pointer.may_be_output = contains(declaration.in_place, parameter);
    pointers.push_back(pointer);
  }
  return pointers;
}

}  // namespace lowtide::c_kernels_internal
