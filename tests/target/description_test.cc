// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/description.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "lowtide/base/limits.h"
#include "lowtide/graph/text.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Target parse(const std::string& toml) {
  Result<Target> target = parse_target(toml, "test.toml");
  if (!target.ok()) throw std::runtime_error(target.error().describe());
  return std::move(target).value();
}

std::string content(const std::string& path) {
  const std::filesystem::path root = std::filesystem::path(LOWTIDE_TEST_FILES).parent_path().parent_path();
  std::stringstream file;
  file << std::ifstream(root / path).rdbuf();
  return file.str();
}

constexpr const char* kHead = "name = \"t\"\n[[region]]\nname = \"r\"\n";

std::vector<Kernel> kernels(const Target& target, const std::string& lines, std::uint32_t node = 0) {
  const Result<Graph> graph = parse_graph("graph \"g\" {\n" + lines + "\n}", "test");
  if (!graph.ok()) throw std::runtime_error(graph.error().describe());
  return target.catalogue->kernels(*graph, NodeId(node));
}

TEST(TargetDescription, ReadsRegionsLinksAndWorkers) {
  const Target target = parse(content("examples/targets/server.toml"));
  EXPECT_EQ(target.name, "server");
  EXPECT_THAT(target.machine.regions, ElementsAre(Region{"device", Bytes(std::int64_t{16} << 30), Bytes(256)},
                                                  Region{"host", Bytes(std::int64_t{256} << 30), Bytes(64)},
                                                  Region{"disk", std::nullopt, Bytes(4096)}));
  ASSERT_EQ(target.machine.links.size(), 4U);
  // 3e9 bytes per second, 100e-6 seconds.
  EXPECT_EQ(target.machine.links[LinkId(2)], (Link{RegionId(1), RegionId(2), 3'000'000'000, 100'000'000}));
  EXPECT_THAT(target.machine.workers, ElementsAre(Worker{"stream", 2}));
}

TEST(TargetDescription, StatesWhetherKernelsWorkOnIntegers) {
  const std::string region = "[[region]]\nname = \"ram\"\n";
  EXPECT_TRUE(parse_target("name = \"mcu\"\ninteger_kernels = true\n" + region, "t")->has_integer_kernels);
  EXPECT_FALSE(parse_target("name = \"mcu\"\n" + region, "t")->has_integer_kernels);
  EXPECT_FALSE(parse_target("name = \"mcu\"\ninteger_kernels = 1\n" + region, "t").ok());
}

// A product of integers is that of the model, unless the file has kernels of its own for it.
TEST(TargetDescription, ProductsOfIntegersHaveTheKernelsOfTheModel) {
  const std::string file =
      "name = \"mcu\"\n[[region]]\nname = \"ram\"\n"
      "[[kernel]]\noperator = \"Conv\"\nname = \"rows\"\nscratch = 128\n"
      "[[kernel]]\noperator = \"QLinearMatMul\"\nname = \"own\"\n"
      "[[kernel]]\noperator = \"*\"\nname = \"any\"\n";
  const Target target = parse_target(file, "t").value();
  const auto kernel_of = [&](const std::string& node) {
    return kernels(target, "input x : i8[1,2,4,4]\ny = " + node + " : i8[1,2,4,4]\noutput y").front().name;
  };
  EXPECT_EQ(kernel_of("lowtide::QLinearConv(x)"), "rows");
  EXPECT_EQ(kernel_of("QLinearConv(x)"), "rows");
  EXPECT_EQ(kernel_of("QLinearMatMul(x)"), "own");
  EXPECT_EQ(kernel_of("lowtide::Chain(x)"), "any");
}

TEST(TargetDescription, LinksAreRoundedToIntegers) {
  const auto link = [](const std::string& numbers) {
    return parse(std::string(kHead) + "[[region]]\nname = \"s\"\n[[link]]\nfrom = \"r\"\nto = \"s\"\n" + numbers)
        .machine.links[LinkId(0)];
  };
  EXPECT_EQ(link("bytes_per_second = 1.5").bytes_per_second, 2);
  EXPECT_EQ(link("bytes_per_second = 2.4").bytes_per_second, 2);
  EXPECT_EQ(link("bytes_per_second = 1e18").bytes_per_second, 1'000'000'000'000'000'000);
  const auto latency = [&](const std::string& seconds) {
    return link("bytes_per_second = 1\nlatency_seconds = " + seconds).latency_picoseconds;
  };
  EXPECT_EQ(latency("0"), 0);
  EXPECT_EQ(latency("10e-6"), 10'000'000);
  EXPECT_EQ(latency("1.1e-12"), 2);  // rounded up: a transfer never takes less
  EXPECT_EQ(latency("1e-15"), 1);
  EXPECT_EQ(latency("1e6"), 1'000'000'000'000'000'000);
}

TEST(TargetDescription, WorkersNameTheRegionsThatTheyAddress) {
  const Target target = parse(R"(
    name = "t"
    worker = [{name = "all"}, {name = "some", addressable = ["c", "a"]}]
    region = [{name = "a"}, {name = "b"}, {name = "c"}]
  )");
  EXPECT_THAT(target.machine.workers, ElementsAre(Worker{"all"}, Worker{"some", 1, {RegionId(0), RegionId(2)}}));
}

TEST(TargetDescription, ConstantsHaveARegionThatMayBeReadOnly) {
  const Target target = parse("constants = \"flash\"\n" + std::string(kHead) +
                              "[[region]]\nname = \"flash\"\ncapacity = \"1MiB\"\nalignment = 4\nread_only = true");
  EXPECT_EQ(target.machine.constants, RegionId(1));
  EXPECT_FALSE(target.machine.regions[0].is_read_only);
  EXPECT_EQ(target.machine.regions[1], (Region{"flash", Bytes(1 << 20), Bytes(4), true}));
  EXPECT_THAT(writable_regions(target.machine, WorkerId(0)), ElementsAre(RegionId(0)));
  EXPECT_EQ(parse("constants = \"r\"\n" + std::string(kHead)).machine.constants, RegionId(0));
  EXPECT_EQ(parse(kHead).machine.constants, std::nullopt);
}

TEST(TargetDescription, ExamplesAreRead) {
  const Target microcontroller = parse(content("examples/targets/microcontroller.toml"));
  EXPECT_THAT(microcontroller.machine.regions, ElementsAre(Region{"sram", Bytes(256 * 1024), Bytes(16)},
                                                           Region{"flash", Bytes(2 << 20), Bytes(16), true}));
  EXPECT_EQ(microcontroller.machine.constants, RegionId(1));
  const Target phone = parse(content("examples/targets/phone.toml"));
  EXPECT_EQ(phone.machine.regions[0].capacity, Bytes(512 << 20));
  EXPECT_EQ(phone.machine.workers[WorkerId(0)].count, 4);
  int examples = 0;
  const std::filesystem::path root = std::filesystem::path(LOWTIDE_TEST_FILES).parent_path().parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(root / "examples/targets")) {
    EXPECT_NO_THROW(parse(content(std::filesystem::relative(entry.path(), root)))) << entry.path();
    ++examples;
  }
  EXPECT_GE(examples, 3);
}

TEST(TargetDescription, ExampleOfTheReferenceIsRead) {
  const std::string document = content("docs/target-format.md");
  const std::size_t begin = document.find("```toml\n") + 8;
  const Target target = parse(document.substr(begin, document.find("```", begin) - begin));
  // 1,024 + 9 x 1,000 = 10,024
  EXPECT_EQ(kernels(target, "input x : u8[1000]\ny = Conv(x) : u8[10]")[0].scratch, Bytes(10'024));
}

TEST(TargetDescription, DefaultsAreThoseOfTheDenseTarget) {
  const Target target = parse(kHead);
  EXPECT_THAT(target.machine.regions, ElementsAre(Region{"r", std::nullopt, Bytes(64)}));
  EXPECT_THAT(target.machine.links, IsEmpty());
  EXPECT_THAT(target.machine.workers, ElementsAre(Worker{"worker"}));
  const std::vector<Kernel> found = kernels(target, "input x : f32[4]\ny = Relu(x) : f32[4]");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "dense");
  EXPECT_THAT(found[0].in_place, ElementsAre(Pair(0, 0)));
}

TEST(TargetDescription, KernelsOfTheOperatorComeFirst) {
  const Target target = parse(R"(
    kernel = [{operator = "*", name = "any"}, {operator = "Conv", name = "b"}, {operator = "Conv", name = "a"},
              {operator = "com.example::Conv", name = "other"}, {operator = "ai.onnx::Relu", name = "relu"}]
  )" + std::string(kHead));
  const auto names = [&](const std::string& op) {
    std::string out;
    for (const Kernel& kernel : kernels(target, "y = " + op + "() : f32[4]")) out += kernel.name + " ";
    return out;
  };
  EXPECT_EQ(names("Conv"), "b a ");  // the order of the file
  EXPECT_EQ(names("ai.onnx::Conv"), "b a ");
  EXPECT_EQ(names("com.example::Conv"), "other ");
  EXPECT_EQ(names("Relu"), "relu ");
  EXPECT_EQ(names("Unheard"), "any ");
}

TEST(TargetDescription, ScratchAndCostFollowTheFormula) {
  const Target target = parse(std::string(kHead) + R"(
    [[kernel]]
    operator = "Op"
    name = "k"
    scratch = 7
    scratch_per_input_byte = 2
    scratch_per_output_byte = 3
    scratch_per_weight_byte = 5
    cost_seconds = 1
    cost_seconds_per_byte = 0.5
  )");
  // I = 10 (x once, although read twice), W = 100, O = 1000 + 4
  const std::vector<Kernel> found = kernels(target, R"(
    input x : u8[10]
    constant w : u8[100]
    a, _, b = Op(x, w, _, x) : u8[1000], u8[4])");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].scratch, Bytes(7 + 2 * 10 + 3 * 1004 + 5 * 100));
  EXPECT_EQ(found[0].cost_seconds, 1 + 0.5 * (10 + 100 + 1004));
}

TEST(TargetDescription, ScratchNeverOverflows) {
  const Target target = parse(std::string(kHead) + R"(
    [[kernel]]
    operator = "Op"
    name = "k"
    scratch = 140737488355327
    scratch_per_input_byte = 1000000
    scratch_per_output_byte = 1000000
    cost_seconds_per_byte = 1e9
  )");
  const std::vector<Kernel> found = kernels(target, "input x : u8[140737488355327]\ny = Op(x) : u8[140737488355327]");
  EXPECT_EQ(found[0].scratch, Bytes(limits::kMaxTensorBytes));
  EXPECT_TRUE(std::isfinite(found[0].cost_seconds));
}

// "b" takes 1 s, "a" takes 0.25 s and 0.1 s for each of the 8 bytes, and "c" as long as "b".
TEST(TargetDescription, KernelsAreSortedByCost) {
  const auto names = [](const std::string& cost_of_last) {
    const Target target = parse(std::string(kHead) + R"(
      [[kernel]]
      operator = "Op"
      name = "a"
      cost_seconds = 0.25
      cost_seconds_per_byte = 0.1
      [[kernel]]
      operator = "Op"
      name = "b"
      cost_seconds = 1
      [[kernel]]
      operator = "Op"
      name = "c"
      )" + cost_of_last);
    std::vector<std::string> found;
    for (const Kernel& kernel : kernels(target, "input x : u8[4]\ny = Op(x) : u8[4]")) found.push_back(kernel.name);
    return found;
  };
  EXPECT_THAT(names("cost_seconds = 1"), ElementsAre("b", "c", "a"));
  EXPECT_THAT(names("cost_seconds = 0.5"), ElementsAre("c", "b", "a"));
  EXPECT_THAT(names(""), ElementsAre("a", "b", "c")) << "the file does not give all costs";
}

TEST(TargetDescription, InPlaceAndViewsCanOnlyBeForbidden) {
  const auto described = [](const std::string& keys) {
    return parse(std::string(kHead) + "[[kernel]]\noperator = \"*\"\nname = \"k\"\n" + keys);
  };
  const std::string relu = "input x : f32[4]\ny = Relu(x) : f32[4]";
  const std::string conv = "input x : f32[4]\ny = Conv(x) : f32[4]";
  EXPECT_THAT(kernels(described(""), relu)[0].in_place, ElementsAre(Pair(0, 0)));
  EXPECT_THAT(kernels(described("in_place = true"), relu)[0].in_place, ElementsAre(Pair(0, 0)));
  EXPECT_THAT(kernels(described("in_place = false"), relu)[0].in_place, IsEmpty());
  EXPECT_THAT(kernels(described("in_place = true"), conv)[0].in_place, IsEmpty());
  EXPECT_TRUE(kernels(described(""), conv)[0].may_alias_views);
  EXPECT_FALSE(kernels(described("may_alias_views = false"), conv)[0].may_alias_views);
}

}  // namespace
}  // namespace lowtide
