#include "host/base/status_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StatusSink, KeepsReasonsInOrderAndCopiesThem) {
  StatusSink sink;
  std::string text = "node(s) had untolerated taint";
  sink.raw()->add_reason(sink.raw(), AsStr(text));
  text.assign(text.size(), 'x');
  sink.raw()->add_reason(sink.raw(), {nullptr, 0});
  EXPECT_THAT(sink.reasons(), ElementsAre("node(s) had untolerated taint", ""));
}

TEST(StatusSink, CutsLongReasons) {
  const std::string most(kMaxReasonBytes, 'x');
  const struct {
    const char* name;
    std::string given;
    std::string kept;
  } cases[] = {
      {"empty", "", ""},
      {"of the greatest length", most, most},
      {"one byte longer", most + "y", most.substr(3) + "..."},
      // The text has 1021 bytes before the mark, which is within the character of two bytes.
      {"cut within a character", most.substr(4) + "\u00e9" + most, most.substr(4) + "..."},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    StatusSink sink;
    sink.raw()->add_reason(sink.raw(), AsStr(c.given));
    EXPECT_THAT(sink.reasons(), ElementsAre(c.kept));
    EXPECT_FALSE(sink.has_null_reason());
  }
}

TEST(StatusSink, CountsTheReasonsBeyondTheLimit) {
  for (const size_t added : {kMaxStatusReasons, kMaxStatusReasons + 1, kMaxStatusReasons + 500}) {
    SCOPED_TRACE(added);
    StatusSink sink;
    for (size_t i = 0; i < added; ++i) {
      const std::string text = std::to_string(i);
      sink.raw()->add_reason(sink.raw(), AsStr(text));
    }
    const size_t more = added - kMaxStatusReasons;
    ASSERT_EQ(sink.reasons().size(), kMaxStatusReasons + (more > 0 ? 1 : 0));
    EXPECT_EQ(sink.reasons()[kMaxStatusReasons - 1], std::to_string(kMaxStatusReasons - 1));
    const std::string last =
        more > 0 ? "and " + std::to_string(more) + " more reasons" : std::to_string(added - 1);
    EXPECT_EQ(sink.reasons().back(), last);
  }
}

TEST(StatusSink, ReportsAReasonThatIsNull) {
  StatusSink sink;
  sink.raw()->add_reason(sink.raw(), {nullptr, 0});
  EXPECT_FALSE(sink.has_null_reason()) << "NULL with length 0 is an empty text";
  sink.raw()->add_reason(sink.raw(), {nullptr, 1});
  EXPECT_TRUE(sink.has_null_reason());
  EXPECT_THAT(sink.reasons(), ElementsAre("", kNullReason));
}

TEST(StatusSink, KeepsEveryArgumentError) {
  StatusSink sink;
  sink.raw()->add_argument_error(sink.raw(), AsStr("/a"), AsStr("expected 1, found 2"));
  sink.raw()->add_argument_error(sink.raw(), AsStr(""), AsStr("unknown"));
  EXPECT_THAT(sink.argument_errors(), ElementsAre(ArgumentError{"/a", "expected 1, found 2"},
                                                  ArgumentError{"", "unknown"}));
}

TEST(StatusSink, JoinsReasonsWithCommas) {
  StatusSink sink;
  EXPECT_EQ(sink.JoinReasons(), "");
  sink.raw()->add_reason(sink.raw(), AsStr("Insufficient cpu"));
  EXPECT_EQ(sink.JoinReasons(), "Insufficient cpu");
  sink.raw()->add_reason(sink.raw(), AsStr("Insufficient memory"));
  EXPECT_EQ(sink.JoinReasons(), "Insufficient cpu, Insufficient memory");
}

TEST(StatusSink, SetsTheStructSize) {
  StatusSink sink;
  EXPECT_TRUE(BERTH_HAS(sink.raw(), berth_status, add_argument_error));
}

TEST(CodeName, SpellsCodesAsKubernetesDoes) {
  EXPECT_EQ(CodeName(BERTH_SUCCESS), "Success");
  EXPECT_EQ(CodeName(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE), "UnschedulableAndUnresolvable");
  EXPECT_EQ(CodeName(BERTH_PENDING), "Pending");
  EXPECT_EQ(CodeName(BERTH_PENDING + 1), "Unknown");
  EXPECT_EQ(CodeName(-1), "Unknown");
}

TEST(FailureText, NamesTheCodeWhenThereAreNoReasons) {
  EXPECT_EQ(FailureText(BERTH_ERROR, "no route to host"), "no route to host");
  EXPECT_EQ(FailureText(BERTH_SKIP, ""), "plugin returned Skip");
}

}  // namespace
}  // namespace berth::host
