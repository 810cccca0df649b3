// Tests how the C++ layer reports the codes of the service berth.objects/1.
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

class ObjectCodesTest : public ::testing::Test {
 protected:
  testing::SmallHost small_;
  internal::Fault fault_;
  internal::Services services_{small_.abi(), &fault_};
  Host host_{services_};
};

TEST_F(ObjectCodesTest, KindThatIsNotServedHasNoObjects) {
  EXPECT_EQ(host_.objects().Get("v1/NotServed", "ns", "b"), nullptr);
  EXPECT_FALSE(host_.objects().Served("v1/NotServed"));
  EXPECT_TRUE(host_.objects().Served("v1/X"));
}

TEST_F(ObjectCodesTest, AnyOtherCodeIsThrown) {
  const struct {
    const char* kind;
    const char* text;
    bool is_bug;
  } kTable[] = {
      {"v1/Undeclared", "kKinds does not name it", true},
      {"v1/WrongWord", "the current call may not read objects", true},
      {"v1/Failed", "the host returned the code 1", false},
  };
  const auto thrown_by = [](const auto& call) -> std::pair<std::string, bool> {
    try {
      call();
    } catch (const std::logic_error& error) {
      return {error.what(), true};
    } catch (const Error& error) {
      return {error.what(), false};
    }
    return {"", false};
  };
  for (const auto& row : kTable) {
    const std::pair expected(
        "cannot look up objects of kind \"" + std::string(row.kind) + "\": " + row.text,
        row.is_bug);
    EXPECT_EQ(thrown_by([&] { host_.objects().Get(row.kind, "ns", "b"); }), expected);
    EXPECT_EQ(thrown_by([&] { host_.objects().Served(row.kind); }), expected);
  }
}

}  // namespace
}  // namespace berth
