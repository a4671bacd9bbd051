// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_kernels/c_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// A program that copies 3 bytes.
CProgram copying_program() {
  CProgram program;
  program.arena = Bytes(32);
  program.tensors = {{.name = "x", .shape = {3}, .size = Bytes(3), .offset = Offset(0)},
                     {.name = "y", .shape = {3}, .size = Bytes(3), .offset = Offset(16)}};
  program.constants = {{.type = CType::int32, .shape = {1}, .bytes = std::string(4, '\0')}};
  program.calls = {{.kernel = "copy",
                    .parameters = {{"bytes", 3}},
                    .operands = {CTensorIndex{0}, CTensorIndex{1}},
                    .origin = "RESHAPE 0"}};
  return program;
}

std::string refusal(const CProgram& program) {
  const Result<void> checked = check_c_call(program, program.calls.front());
  return checked.ok() ? "" : checked.error().describe();
}

TEST(CKernels, HaveTheMembersAndPointersOfTheirText) {
  const CKernel* move = find_c_kernel("move");
  ASSERT_NE(move, nullptr);
  EXPECT_THAT(move->members,
              ElementsAre(CMember{.name = "bytes"}, CMember{.name = "counts", .length = 5},
                          CMember{.name = "input_steps", .length = 5}, CMember{.name = "output_steps", .length = 5},
                          CMember{.name = "input_start"}, CMember{.name = "output_start"}));
  EXPECT_THAT(move->pointers, ElementsAre(CPointer{.name = "input"}, CPointer{.name = "output", .is_written = true}));
  EXPECT_EQ(find_c_kernel("no_such_kernel"), nullptr);
}

TEST(CKernels, SayWhichPointersMayBeNullOrTheOutput) {
  const CKernel* conv = find_c_kernel("conv_2d_i8");
  ASSERT_NE(conv, nullptr);
  EXPECT_THAT(conv->pointers, ElementsAre(CPointer{.name = "input", .type = CType::int8},
                                          CPointer{.name = "weights", .type = CType::int8},
                                          CPointer{.name = "bias", .type = CType::int32, .may_be_null = true},
                                          CPointer{.name = "multipliers", .type = CType::int32},
                                          CPointer{.name = "shifts", .type = CType::int32},
                                          CPointer{.name = "output", .type = CType::int8, .is_written = true}));
  const CKernel* softmax = find_c_kernel("softmax_i8");
  ASSERT_NE(softmax, nullptr);
  EXPECT_TRUE(softmax->pointers.front().may_be_output);
}

TEST(CKernels, EndWithTheirOutput) {
  for (const CKernel& kernel : c_kernels()) {
    EXPECT_FALSE(kernel.members.empty()) << kernel.name;
    ASSERT_FALSE(kernel.pointers.empty()) << kernel.name;
    EXPECT_TRUE(kernel.pointers.back().is_written) << kernel.name;
  }
}

TEST(CKernels, TextsHaveNoLicenceAndUseNoLibrary) {
  for (const CKernel& kernel : c_kernels()) {
    EXPECT_THAT(std::string(kernel.text), Not(HasSubstr("Copyright"))) << kernel.name;
    EXPECT_THAT(std::string(kernel.text), Not(HasSubstr("#include"))) << kernel.name;
    EXPECT_THAT(std::string(kernel.text), Not(HasSubstr("malloc"))) << kernel.name;
  }
}

TEST(CKernels, TextsFollowWhatTheyNeed) {
  // Both kernels need clamp, and softmax_row needs reciprocal, which needs high_product.
  const std::vector<std::string_view> texts = c_texts({"softmax_i8", "conv_2d_i8", "softmax_i8"});
  const auto place_of = [&](std::string_view what) {
    std::ptrdiff_t found = -1;
    for (std::size_t at = 0; at < texts.size(); ++at) {
      if (texts[at].find(what) == std::string_view::npos) continue;
      EXPECT_EQ(found, -1) << what << " is there twice";
      found = static_cast<std::ptrdiff_t>(at);
    }
    EXPECT_NE(found, -1) << what;
    return found;
  };
  EXPECT_LT(place_of("static int32_t lowtide_high_product("), place_of("static int32_t lowtide_reciprocal("));
  EXPECT_LT(place_of("static int32_t lowtide_reciprocal("), place_of("static int32_t lowtide_softmax_row("));
  EXPECT_LT(place_of("static int32_t lowtide_softmax_row("), place_of("static void lowtide_softmax_i8("));
  EXPECT_LT(place_of("static int32_t lowtide_clamp("), place_of("static void lowtide_conv_2d_i8("));
  EXPECT_THAT(c_texts({}), IsEmpty());
}

TEST(CheckCCall, AcceptsWhatFits) { EXPECT_EQ(refusal(copying_program()), ""); }

TEST(CheckCCall, RefusesOtherParameters) {
  CProgram program = copying_program();
  program.calls[0].parameters = {{"bytes", 3.0F}};
  EXPECT_EQ(refusal(program), "'RESHAPE 0': the call does not fit the kernel copy: parameter 0 is not bytes");
  program.calls[0].parameters = {{"byte", 3}};
  EXPECT_THAT(refusal(program), HasSubstr("parameter 0 is not bytes"));
  program.calls[0].parameters = {};
  EXPECT_THAT(refusal(program), HasSubstr("it has 0 parameters, and the kernel has 1"));
}

TEST(CheckCCall, RefusesOtherOperands) {
  CProgram program = copying_program();
  program.calls[0].operands[1] = CConstantIndex{0};  // it would be written
  EXPECT_THAT(refusal(program), HasSubstr("operand 1 cannot be output"));
  program.calls[0].operands[1] = COperand();
  EXPECT_THAT(refusal(program), HasSubstr("operand 1 cannot be output"));
  program.calls[0].operands[1] = CTensorIndex{2};
  EXPECT_THAT(refusal(program), HasSubstr("operand 1 cannot be output"));
  program.calls[0].operands.pop_back();
  EXPECT_THAT(refusal(program), HasSubstr("it has 1 operands, and the kernel has 2"));
}

TEST(CheckCCall, RefusesOperandsOutsideOfTheArena) {
  CProgram program = copying_program();
  program.tensors[1].offset = Offset(30);
  EXPECT_THAT(refusal(program), HasSubstr("operand 1 cannot be output"));
}

TEST(CheckCCall, RefusesOtherTypes) {
  CProgram program = copying_program();
  program.calls[0] = {.kernel = "softmax_i8",
                      .parameters = {{"rows", 1}, {"depth", 3}},
                      .operands = {CTensorIndex{0}, CConstantIndex{0}, CTensorIndex{1}},
                      .origin = "SOFTMAX 0"};
  EXPECT_EQ(refusal(program), "");
  program.constants[0].type = CType::int8;
  EXPECT_THAT(refusal(program), HasSubstr("operand 1 cannot be table"));
}

TEST(CheckCCall, RefusesUnknownKernels) {
  CProgram program = copying_program();
  program.calls[0].kernel = "no_such_kernel";
  EXPECT_THAT(refusal(program), StartsWith("'RESHAPE 0': no kernel is named 'no_such_kernel'"));
}

}  // namespace
}  // namespace lowtide
