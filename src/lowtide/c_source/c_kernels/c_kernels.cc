// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_kernels/c_kernels.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "lowtide/base/check.h"
#include "lowtide/c_source/c_kernels/declaration.h"
#include "lowtide/c_source/c_kernels/kernel_texts.h"

namespace lowtide {
namespace c_kernels_internal {
namespace {

constexpr std::string_view kCmsis = "cmsis_";

std::vector<CKernel> read_kernels() {
  std::vector<CKernel> kernels;
  for (const auto& [name, text] : kernel_texts()) {
    Declaration declaration = read_declaration(text);
    kernels.push_back({.name = name,
                       .text = declaration.text,
                       .helpers = declaration.uses,
                       .members = read_members(name, declaration.text),
                       .pointers = read_pointers(name, declaration),
                       .calls_cmsis = name.rfind(kCmsis, 0) == 0});
  }
  std::sort(kernels.begin(), kernels.end(), [](const CKernel& a, const CKernel& b) { return a.name < b.name; });
  return kernels;
}

}  // namespace
}  // namespace c_kernels_internal

const std::vector<CKernel>& c_kernels() {
  static const std::vector<CKernel> kernels = c_kernels_internal::read_kernels();
  return kernels;
}

const CKernel* find_c_kernel(std::string_view name) {
  const std::vector<CKernel>& kernels = c_kernels();
  const auto kernel = std::lower_bound(kernels.begin(), kernels.end(), name,
                                       [](const CKernel& one, std::string_view wanted) { return one.name < wanted; });
  return kernel != kernels.end() && kernel->name == name ? &*kernel : nullptr;
}

std::vector<std::string_view> c_texts(const std::vector<std::string_view>& kernels) {
  std::set<std::string_view> needed;
  std::vector<std::string_view> texts;
  std::set<std::string_view> given;
  for (std::string_view name : kernels) {
    const CKernel* kernel = find_c_kernel(name);
    LOWTIDE_CHECK(kernel != nullptr, "a program calls kernels that exist");
    if (given.insert(name).second) texts.push_back(kernel->text);
    needed.insert(kernel->helpers.begin(), kernel->helpers.end());
  }
  // A helper follows what it uses, so those that need others come first in the reverse order.
  std::vector<std::string_view> helpers;
  const auto& all = c_kernels_internal::helper_texts();
  for (std::size_t at = all.size(); at-- > 0;) {
    if (needed.count(all[at].name) == 0) continue;
    const c_kernels_internal::Declaration helper = c_kernels_internal::read_declaration(all[at].text);
    needed.insert(helper.uses.begin(), helper.uses.end());
    helpers.push_back(helper.text);
  }
  texts.insert(texts.begin(), helpers.rbegin(), helpers.rend());
  return texts;
}

}  // namespace lowtide
