// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"

namespace lowtide::cli_internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Arguments parsed(const std::vector<std::string>& words) { return parse_arguments(*find_command("plan"), words); }

std::string refusal(const std::vector<std::string>& words) {
  try {
    const Arguments arguments = parsed(words);
    static_cast<void>(read_positive_size(arguments, "--budget"));
    static_cast<void>(read_bindings(arguments));
  } catch (const Stop& stop) {
    EXPECT_EQ(stop.code(), ExitCode::usage);
    return stop.what();
  }
  return "";
}

TEST(Arguments, AreReadInEverySpelling) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"m.onnx", "--output", "p.json"},
                                                {"m.onnx", "--output=p.json"},
                                                {"-o", "p.json", "m.onnx"},
                                                {"-op.json", "m.onnx"},
                                                {"-qo", "p.json", "--", "m.onnx"}}) {
    const Arguments arguments = parsed(words);
    EXPECT_EQ(arguments.positional("MODEL"), "m.onnx");
    EXPECT_EQ(arguments.value("--output"), "p.json");
    EXPECT_FALSE(arguments.has("--json"));
  }
}

TEST(Arguments, AnOptionTakesOneWordOnly) {
  const Arguments arguments = parsed({"--dim", "a=1", "m.onnx", "--dim", "b=2"});
  EXPECT_EQ(arguments.positional("MODEL"), "m.onnx");
  EXPECT_THAT(arguments.values("--dim"), ElementsAre("a=1", "b=2"));
}

TEST(Arguments, AValueMayBeginWithADash) {
  EXPECT_THAT(refusal({"m.onnx", "--budget", "-1"}), HasSubstr("cannot be negative"));
  EXPECT_EQ(parsed({"m.onnx", "-o", "-"}).value("--output"), "-");
}

TEST(Arguments, AFileMayBeNamedLikeACommandOrOption) {
  EXPECT_EQ(parsed({"plan"}).positional("MODEL"), "plan");
  EXPECT_EQ(parsed({"--", "--json"}).positional("MODEL"), "--json");
}

TEST(Suggestion, IsTheNearestWordOrEmpty) {
  EXPECT_EQ(suggestion("--jsno", {"--html", "--json"}), "; did you mean '--json'?");  // two letters swapped: 1 edit
  EXPECT_EQ(suggestion("inspct", {"inspect", "plan"}), "; did you mean 'inspect'?");
  EXPECT_EQ(suggestion("frobnicate", {"inspect", "plan"}), "");
  EXPECT_EQ(suggestion("-x", {"-o", "-q"}), "");
  EXPECT_EQ(suggestion(std::string(1'000'000, 'a'), {"plan"}), "");
}

TEST(Commands, NamesAndLettersOfOptionsAreUnique) {
  for (const CommandSpec& command : commands()) {
    std::set<std::string_view> names;
    for (const OptionSpec* option : options_of(command)) {
      EXPECT_TRUE(names.insert(option->name).second) << command.name << " " << option->name;
      EXPECT_TRUE(option->letter.empty() || names.insert(option->letter).second)
          << command.name << " " << option->letter;
      EXPECT_EQ(option->value.empty(), option->kind == ArgumentKind::none) << command.name << " " << option->name;
      EXPECT_EQ(option->kind == ArgumentKind::choice, !option->choices.empty()) << command.name << " " << option->name;
    }
    EXPECT_GE(command.examples.size(), 2U) << command.name;
  }
}

TEST(Bindings, AreSplitAtTheLastEqualsSign) {
  const ImportOptions bindings = read_bindings(parsed({"m.onnx", "--dim", "a=b=3", "--shape", "x=1x?x640"}));
  EXPECT_EQ(bindings.dims.at("a=b"), 3);
  EXPECT_THAT(bindings.shapes.at("x"), ElementsAre(1, -1, 640));
}

TEST(Bindings, OfAPlanAreReadBack) {
  // A dim and an input of rank 1 may have the same name.
  const ImportOptions bindings{.dims = {{"x", 8}, {"a=b", 3}}, .shapes = {{"x", {8}}, {"y", {1, -1}}}};
  const std::vector<std::string> written = written_bindings(bindings);
  EXPECT_THAT(written, ElementsAre("a=b=3", "x=8", "x=[8]", "y=[1,?]"));
  ImportOptions read;
  add_written_bindings(written, read);
  EXPECT_EQ(read.dims, bindings.dims);
  EXPECT_EQ(read.shapes, bindings.shapes);
}

TEST(Bindings, OfTheCommandLineOverrideThoseOfThePlan) {
  ImportOptions bindings{.dims = {{"batch", 2}}};
  add_written_bindings({"batch=8", "seq=5", "no binding", "", "=3", "x=[1,"}, bindings);
  EXPECT_EQ(bindings.dims, (std::map<std::string, std::int64_t>{{"batch", 2}, {"seq", 5}}));
  EXPECT_TRUE(bindings.shapes.empty());
}

TEST(Bindings, OfAnyOtherFormAreRefused) {
  for (const char* word : {"batch", "batch=", "=8", "batch=1.5", "batch= 8"}) {
    EXPECT_THAT(refusal({"m.onnx", "--dim", word}), HasSubstr("must have the form batch=8")) << word;
  }
  EXPECT_THAT(refusal({"m.onnx", "--dim", "batch=-1"}), HasSubstr("sets 'batch' to -1; give an extent of at least 0"));
  for (const char* word : {"x", "x=", "=1x2", "x=1xx2", "x=1x", "x=x1", "x=1x-2", "x=axb"}) {
    EXPECT_THAT(refusal({"m.onnx", "--shape", word}), HasSubstr("must have the form image=")) << word;
  }
  EXPECT_THAT(refusal({"m.onnx", "--dim", "batch=9223372036854775808"}), HasSubstr("too large"));
  EXPECT_THAT(refusal({"m.onnx", "--shape", "x=1x9223372036854775808"}), HasSubstr("too large"));
  EXPECT_THAT(refusal({"m.onnx", "--shape", "x=1", "--shape", "x=2"}), HasSubstr("twice"));
}

}  // namespace
}  // namespace lowtide::cli_internal
