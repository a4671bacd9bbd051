// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/graphdef/output_types.h"
#include "tests/testing/graphdef_values.h"

// Compares types, shapes and small integers with those of TensorFlow, as record_shapes.py writes them.
namespace lowtide::testing {
namespace {

using Numbers = std::vector<std::int64_t>;

// Lowtide has no sizes for texts, and gives a handle the type of its variable.
constexpr std::int64_t kText = 7;
constexpr std::int64_t kResource = 20;

// The results of this operator, which a loss with weights has, depend on data.
constexpr const char* kDependsOnData = "DenseToDenseSetOperation";

struct RecordedOutput {
  std::int64_t type = 0;
  std::optional<Numbers> extents;  // -1 is an unknown one
  std::optional<Numbers> content;
};

struct RecordedNode {
  std::string name;
  std::string op;
  std::vector<RecordedOutput> outputs;
};

struct RecordedGraph {
  std::string title;
  std::string text;  // without shapes of results
  std::vector<RecordedNode> nodes;
};

Numbers numbers_in(const std::string& text, char separator) {
  Numbers all;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, separator);) all.push_back(std::stoll(part));
  return all;
}

// "3:2x1=4,5", "1:?"
RecordedOutput output_in(const std::string& word) {
  const std::size_t colon = word.find(':');
  const std::size_t equals = std::min(word.find('='), word.size());
  RecordedOutput output{.type = std::stoll(word), .extents = {}, .content = {}};
  const std::string extents = word.substr(colon + 1, equals - colon - 1);
  if (extents != "?") output.extents = numbers_in(extents, 'x');
  if (equals < word.size()) output.content = numbers_in(word.substr(equals + 1), ',');
  return output;
}

std::string attribute_text(const std::string& key, const std::string& value) {
  return "attr { key: '" + key + "' value { " + value + " } } ";
}

// Lowtide only types outputs that a node reads, so each of the others has a reader.
std::string readers_of(const RecordedNode& node) {
  std::string text;
  for (std::size_t port = 1; port < node.outputs.size(); ++port) {
    const std::string number = std::to_string(port);
    text += "node { name: '" + node.name + "_" + number + "' op: 'Identity' input: '" + node.name + ":" + number +
            "' " + attribute_text("T", "type: " + std::to_string(node.outputs[port].type)) + "}\n";
  }
  return text;
}

RecordedNode add_node(const std::string& line, RecordedGraph& graph) {
  std::istringstream words(line);
  RecordedNode node;
  words >> node.name >> node.op;
  graph.text += "node { name: '" + node.name + "' op: '" + node.op + "' ";
  bool is_output = false;
  std::string type = "1";
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (is_output) {
      node.outputs.push_back(output_in(word));
    } else if (word == ">") {
      is_output = true;
    } else if (equals == std::string::npos) {
      graph.text += "input: '" + word + "' ";
    } else {
      const std::string key = word.substr(0, equals);
      if (key == "dtype") type = word.substr(equals + 2);
      graph.text += attribute_text(key, value_text(key, word.substr(equals + 1), type));
    }
  }
  graph.text += "}\n";
  return node;
}

std::vector<RecordedGraph> recorded_graphs() {
  std::ifstream file(std::string(LOWTIDE_TEST_FILES) + "/graphdef_shapes.txt");
  std::vector<RecordedGraph> graphs;
  std::string readers;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("graph ")) {
      if (!graphs.empty()) graphs.back().text += std::exchange(readers, "");
      graphs.push_back({.title = line.substr(6), .text = {}, .nodes = {}});
    } else {
      graphs.back().nodes.push_back(add_node(line, graphs.back()));
      readers += readers_of(graphs.back().nodes.back());
    }
  }
  if (!graphs.empty()) graphs.back().text += readers;
  return graphs;
}

bool is_fully_known(const std::optional<Numbers>& extents) {
  return extents && std::ranges::find(*extents, -1) == extents->end();
}

// Whether extents are possible where TensorFlow does not know all of them.
bool fits(const Numbers& extents, const std::optional<Numbers>& recorded) {
  if (!recorded) return true;
  return std::ranges::equal(extents, *recorded, [](std::int64_t a, std::int64_t b) { return a == b || b == -1; });
}

// What Lowtide says of outputs that TensorFlow knows, and of the small integers of a run.
struct Comparison {
  std::vector<std::string> differences;
  std::map<std::string, int> unknown_contents;  // by operator
  int shapes = 0;                               // that TensorFlow knows
  int contents = 0;                             // that were recorded
};

void compare(const RecordedOutput& recorded, const OutputType& type, const std::string& place, const std::string& op,
             Comparison& all) {
  const auto differ = [&](const std::string& what) { all.differences.push_back(place + ": " + what); };
  if (type.data_type != recorded.type) differ("type " + ::testing::PrintToString(type.data_type));
  if (is_fully_known(recorded.extents)) {
    ++all.shapes;
    if (type.extents != recorded.extents) differ("shape " + ::testing::PrintToString(type.extents));
  } else if (type.extents && !fits(*type.extents, recorded.extents)) {
    differ("shape " + ::testing::PrintToString(type.extents));
  }
  if (!recorded.content) return;
  ++all.contents;
  if (!type.content) {
    ++all.unknown_contents[op];
  } else if (type.content != recorded.content) {
    differ("content " + ::testing::PrintToString(type.content));
  }
}

Comparison compare(const RecordedGraph& graph) {
  Comparison all;
  const auto graphdef = read_graphdef(graph.text);
  const auto types = graphdef ? infer_output_types(*graphdef) : graphdef.error();
  if (!types) {
    all.differences.push_back(graph.title + ": " + types.error().describe());
    return all;
  }
  for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
    const RecordedNode& node = graph.nodes[at];
    for (std::size_t port = 0; port < node.outputs.size(); ++port) {
      const std::int64_t type = node.outputs[port].type;
      if (type == kText || type == kResource || node.op == kDependsOnData) continue;
      const std::string place = graph.title + " " + node.name + ":" + std::to_string(port) + " (" + node.op + ")";
      compare(node.outputs[port], port < (*types)[at].size() ? (*types)[at][port] : OutputType(), place, node.op, all);
    }
  }
  return all;
}

TEST(RecordedShapes, AreThoseOfTensorFlow) {
  int shapes = 0;
  for (const RecordedGraph& graph : recorded_graphs()) {
    const Comparison comparison = compare(graph);
    EXPECT_THAT(comparison.differences, ::testing::IsEmpty());
    shapes += comparison.shapes;
  }
  EXPECT_GT(shapes, 9'000);
}

TEST(RecordedShapes, SmallIntegersAreThoseOfARun) {
  std::map<std::string, int> unknown;
  int contents = 0;
  for (const RecordedGraph& graph : recorded_graphs()) {
    const Comparison comparison = compare(graph);
    for (const auto& [op, count] : comparison.unknown_contents) unknown[op] += count;
    contents += comparison.contents;
  }
  EXPECT_THAT(unknown, ::testing::IsEmpty());
  EXPECT_GT(contents, 900);
}

bool has_size(const OutputType& type) { return type.element_bytes > 0 && is_fully_known(type.extents); }

// The graphs have no _output_shapes, so all sizes follow from those of inputs, variables and constants. Six depend on
// data: the loss with weights, in its graph for any batch, has 2 nodes that compare lists of extents.
TEST(RecordedShapes, TrainingGraphsHaveSizes) {
  int outputs = 0;
  int unknown = 0;
  int refused = 0;
  for (const RecordedGraph& graph : recorded_graphs()) {
    if (!graph.title.starts_with("training ")) continue;
    const auto types = infer_output_types(*read_graphdef(graph.text));
    for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
      const RecordedNode& node = graph.nodes[at];
      for (std::size_t port = 0; port < node.outputs.size(); ++port) {
        if (node.outputs[port].type == kText) continue;
        ++outputs;
        if (has_size(types->at(at).at(port))) continue;
        ++unknown;
        EXPECT_EQ(node.op, kDependsOnData) << graph.title << " " << node.name;
      }
    }
    const Result<GraphOfGraphDef> made = graph_of_graphdef(*read_graphdef(graph.text));
    if (made) continue;
    ++refused;
    EXPECT_THAT(made.error().describe(), ::testing::HasSubstr(kDependsOnData));
    EXPECT_TRUE(graph_of_graphdef(*read_graphdef(graph.text), {.unit_sizes = true}).ok());
  }
  EXPECT_EQ(outputs, 4'611);
  EXPECT_EQ(unknown, 6);  // 2 nodes with 3 outputs
  EXPECT_EQ(refused, 1);
}

// Replaces some numbers of the text of a graph.
std::string with_other_numbers(const std::string& text, Random& random) {
  static const std::vector<std::string> numbers = {"0",
                                                   "1",
                                                   "-1",
                                                   "-2",
                                                   "3",
                                                   "64",
                                                   "65",
                                                   "2147483647",
                                                   "2147483648",
                                                   "-2147483648",
                                                   "4611686018427387904",
                                                   "9223372036854775807",
                                                   "-9223372036854775808"};
  std::string other;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins =
        text[at] == ' ' && at + 1 < text.size() && (text[at + 1] == '-' || std::isdigit(text[at + 1]) != 0);
    other += text[at++];
    if (!begins || !random.chance(8)) continue;
    other += numbers[random.below(numbers.size())];
    while (at < text.size() && (text[at] == '-' || std::isdigit(text[at]) != 0)) ++at;
  }
  return other;
}

// Types are numbers too, so operators also have operands of other types.
TEST(RecordedShapes, AnyNumbersAreReadOrRefused) {
  Random random(72);
  int typed = 0;
  int made = 0;
  for (const RecordedGraph& graph : recorded_graphs()) {
    if (graph.title.starts_with("training ")) continue;
    for (int round = 0; round < 12; ++round) {
      const Result<ProtoMessage> graphdef = read_graphdef(with_other_numbers(graph.text, random));
      if (!graphdef) continue;
      const auto types = infer_output_types(*graphdef);
      typed += types.ok() ? 1 : 0;
      made += graph_of_graphdef(*graphdef, {.unit_sizes = true}).ok() ? 1 : 0;
      if (!types) continue;
      for (const std::vector<OutputType>& outputs : *types) {
        for (const OutputType& output : outputs) {
          if (!output.extents) continue;
          EXPECT_TRUE(std::ranges::all_of(*output.extents, [](std::int64_t extent) { return extent >= -1; }));
        }
      }
    }
  }
  EXPECT_GT(typed, 1'000);
  EXPECT_GT(made, 1'000);
}

}  // namespace
}  // namespace lowtide::testing
