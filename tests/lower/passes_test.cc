// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/listed.h"
#include "lowtide/lower/lower.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string document(std::string_view name) {
  const std::filesystem::path root = std::filesystem::path(LOWTIDE_TEST_FILES).parent_path().parent_path();
  std::ifstream file(root / "docs" / name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> names_of(PassSet passes) {
  std::vector<std::string> names;
  for (const Pass& pass : all_passes()) {
    if (passes.has(pass.id)) names.emplace_back(pass.name);
  }
  return names;
}

TEST(Passes, AreFoundByTheirNames) {
  for (const Pass& pass : all_passes()) {
    EXPECT_EQ(find_pass(pass.name), &pass);
    EXPECT_EQ(name_of(pass.id), pass.name);
  }
  EXPECT_EQ(find_pass("fuse"), nullptr);
  EXPECT_EQ(find_pass(""), nullptr);
}

TEST(Passes, HaveOneUseEach) {
  EXPECT_THAT(names_of(passes_for(PassUse::always)), ElementsAre("load_time"));
  EXPECT_THAT(names_of(passes_for(PassUse::request)), ElementsAre("inputs_in_arena", "outputs_at_caller"));
  const PassSet kernels = passes_for(PassUse::kernels);
  EXPECT_EQ(names_of(kernels).size() + 4, all_passes().size());
  EXPECT_THAT(names_of(integer_passes()), ElementsAre("quantized", "integer_chains"));
  EXPECT_EQ(options_for_kernels().passes, kernels | passes_for(PassUse::always));
}

TEST(Passes, TellWhetherTheyAskAMachine) {
  EXPECT_TRUE(ask_machine(options_for_kernels().passes));
  EXPECT_TRUE(ask_machine({PassId::winograd}));
  EXPECT_FALSE(ask_machine({PassId::chains, PassId::outputs_at_caller}));
  EXPECT_FALSE(ask_machine({}));
}

TEST(Passes, AreInTheTableOfTheirDocument) {
  std::string table = "| Pass | What it does | Results |\n|---|---|---|\n";
  for (const Pass& pass : all_passes()) {
    const std::string_view results = pass.differs.empty() ? "same bits" : pass.differs;
    table += "| `" + std::string(pass.name) + "` | " + std::string(pass.help) + " | " + std::string(results) + " |\n";
  }
  EXPECT_THAT(document("runtime.md"), HasSubstr(table + "\n"));
}

TEST(Passes, AreInTheDescriptionOfPlanFiles) {
  std::vector<std::string> names;
  std::vector<std::string> of_one_machine;
  for (const Pass& pass : all_passes()) {
    names.push_back("`\"" + std::string(pass.name) + "\"`");
    if (pass.traits.has(PassTrait::asks_machine)) of_one_machine.push_back(names.back());
  }
  std::string order;
  for (const std::string& name : names) order += (order.empty() ? "" : ", ") + name;
  const std::string text = document("plan-format.md");
  EXPECT_THAT(text, HasSubstr("each once and in this order: " + order));
  EXPECT_THAT(text, HasSubstr("can make the graphs of " + listed(of_one_machine, "and") + " again"));
}

}  // namespace
}  // namespace lowtide
