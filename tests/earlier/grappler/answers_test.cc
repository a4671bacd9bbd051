// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/grappler.h"

namespace lowtide::testing {
namespace {

using NodeLines = std::map<std::string, std::string>;  // by name of the node

// A graph and what TensorFlow makes of it, as record_answers.py writes them.
struct Answer {
  std::string head;
  GrapplerLevel level = GrapplerLevel::none;
  std::string scope;
  std::vector<DefNode> nodes;
  NodeLines expected;
};

std::string line_of(const DefNode& node) {
  std::string line = node.name + " " + node.op + " " + (node.device.empty() ? "-" : node.device);
  for (const std::string& input : node.inputs) line += " " + input;
  std::vector<std::string> keys;
  for (const ProtoMessage& attribute : node.attributes) keys.emplace_back(find_text(attribute, 1).value());
  std::ranges::sort(keys);
  for (const std::string& key : keys) line += " " + key;
  return line;
}

DefNode node_of(const std::string& line) {
  std::istringstream words(line);
  DefNode node;
  words >> node.name >> node.op >> node.device;
  if (node.device == "-") node.device.clear();
  for (std::string word; words >> word;) {
    if (word.starts_with('_')) {
      set_true(node, word);
    } else {
      node.inputs.push_back(word);
    }
  }
  return node;
}

void read_head(const std::string& line, Answer& answer) {
  std::istringstream words(line);
  std::string word;
  std::string level;
  words >> word >> level >> answer.scope;
  answer.head = line;
  answer.level = from_string<GrapplerLevel>(level).value();
  if (answer.scope == "-") answer.scope.clear();
}

std::vector<Answer> recorded_answers() {
  std::ifstream file(std::string(LOWTIDE_TEST_FILES) + "/grappler_answers.txt");
  std::vector<Answer> answers;
  bool is_answer = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("graph ")) {
      read_head(line, answers.emplace_back());
      is_answer = false;
    } else if (line == "answer") {
      is_answer = true;
    } else {
      if (!is_answer) answers.back().nodes.push_back(node_of(line));
      answers.back().expected[line.substr(0, line.find(' '))] = line;
    }
  }
  return answers;
}

NodeLines lines_of(const ProtoMessage& graphdef) {
  NodeLines lines;
  for (const DefNode& node : nodes_of_graphdef(graphdef)) lines[node.name] = line_of(node);
  return lines;
}

TEST(GrapplerAnswers, AreThoseOfTensorFlow) {
  const std::vector<Answer> answers = recorded_answers();
  ASSERT_GE(answers.size(), 500U);
  for (std::size_t at = 0; at < answers.size(); ++at) {
    const Answer& answer = answers[at];
    const Result<GrapplerResult> result = run_grappler(
        with_nodes({}, answer.nodes),
        {.level = answer.level, .target_scope = answer.scope, .feeds = {}, .fetches = {answer.nodes.back().name}});
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_EQ(lines_of(result->graphdef), answer.expected) << "block " << at << ": " << answer.head;
  }
}

}  // namespace
}  // namespace lowtide::testing
