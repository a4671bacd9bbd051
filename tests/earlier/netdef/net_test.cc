// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace lowtide::testing {
namespace {

const char* const kNet = R"(name: "tiny"
op {
  input: "data"
  input: "w"
  output: "y"
  name: "conv1"
  type: "Conv"
  arg {
    name: "kernel"
    i: 3
  }
  device_option {
    device_type: 1
    device_id: 2
  }
  engine: "CUDNN"
}
type: "dag"
external_input: "data"
external_output: "y"
)";

TEST(Net, HasTwoForms) {
  const Result<NetFile> text = read_net(kNet);
  ASSERT_TRUE(text.ok()) << text.error().describe();
  EXPECT_EQ(text->form, NetForm::text);
  const std::string bytes = *write_net(text->net, NetForm::binary);
  const Result<NetFile> binary = read_net(bytes);
  ASSERT_TRUE(binary.ok()) << binary.error().describe();
  EXPECT_EQ(binary->form, NetForm::binary);
  EXPECT_EQ(*write_net(binary->net, NetForm::text), kNet);
  EXPECT_EQ(*write_net(text->net, NetForm::text), kNet);
}

TEST(Net, ReadsTheOldNameOfADeviceNumber) {
  const Result<NetFile> net = read_net("op { type: \"X\" device_option { device_type: 1 cuda_gpu_id: 3 } }");
  ASSERT_TRUE(net.ok());
  EXPECT_THAT(*write_net(net->net, NetForm::text), ::testing::HasSubstr("device_id: 3"));
}

TEST(Net, IsRecognized) {
  EXPECT_TRUE(is_net(kNet));
  EXPECT_TRUE(is_net("# made by hand\nop {\n"));
  const std::string bytes = *write_net(read_net(kNet)->net, NetForm::binary);
  EXPECT_TRUE(is_net(bytes));
  EXPECT_TRUE(is_net(bytes.substr(0, bytes.size() - 3)));
  EXPECT_FALSE(is_net(""));
  EXPECT_FALSE(is_net("node { name: \"x\" }"));                      // GraphDef
  EXPECT_FALSE(is_net("graph \"x\" {"));                             // Lowtide's text form
  EXPECT_FALSE(is_net(std::string("\x08\x07\x12\x07pytorch", 11)));  // ONNX: ir_version, producer_name
  EXPECT_FALSE(is_net(std::string("\x12\x07pytorch", 9)));           // producer_name alone
  EXPECT_FALSE(is_net(std::string("\x0A\x03net", 5)));               // a name without operators
}

}  // namespace
}  // namespace lowtide::testing
