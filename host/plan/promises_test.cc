#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"
#include "host/plan/instance_host.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PromisesTest : public ::testing::Test {
 protected:
  Promises::Id Open(const std::string& name = "", Promises::Kind kind = Promises::Kind::kOther) {
    return promises_.Open(
        [this, name](berth_code code, const std::vector<std::string>& reasons) {
          answers_.push_back(name + std::to_string(code) + Join(reasons, ","));
        },
        kind);
  }

  Promises promises_;
  std::vector<std::string> answers_;
};

TEST_F(PromisesTest, AreAnsweredOnce) {
  const Promises::Id done = Open();
  EXPECT_EQ(promises_.open_count(), 1U);
  EXPECT_TRUE(promises_.Complete(done, BERTH_ERROR, {"boom", "again"}));
  EXPECT_EQ(promises_.open_count(), 0U);
  EXPECT_TRUE(promises_.Complete(done, BERTH_SUCCESS, {}));
  EXPECT_THAT(answers_, ElementsAre("1boom,again"));
  EXPECT_FALSE(promises_.Close(done));
}

TEST_F(PromisesTest, ClosedPromisesAreNotAnswered) {
  const Promises::Id done = Open();
  EXPECT_TRUE(promises_.Close(done));
  EXPECT_FALSE(promises_.Close(done));
  EXPECT_TRUE(promises_.Complete(done, BERTH_SUCCESS, {}));
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(PromisesTest, AreIndependent) {
  const Promises::Id a = Open("a");
  const Promises::Id b = Open("b");
  EXPECT_NE(a, b);
  promises_.Complete(b, BERTH_SUCCESS, {});
  promises_.Complete(a, BERTH_SKIP, {});
  EXPECT_THAT(answers_, ElementsAre("b0", "a5"));
}

TEST_F(PromisesTest, RecognizesIdsThatItNeverReturned) {
  EXPECT_FALSE(promises_.Complete(1, BERTH_SUCCESS, {}));
  const Promises::Id done = Open();
  EXPECT_FALSE(promises_.Complete(0, BERTH_SUCCESS, {}));
  EXPECT_FALSE(promises_.Complete(done + 1, BERTH_SUCCESS, {}));
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_EQ(promises_.open_count(), 1U);
}

TEST_F(PromisesTest, AllowBindOnlyForOpenPromiseOfBind) {
  const Promises::Id bind = Open("", Promises::Kind::kBind);
  const Promises::Id pre_bind = Open();
  const Promises::Id given_up = Open("a", Promises::Kind::kBind);
  EXPECT_TRUE(promises_.IsOpenForBind(bind));
  EXPECT_FALSE(promises_.IsOpenForBind(pre_bind));
  EXPECT_FALSE(promises_.IsOpenForBind(0));
  EXPECT_FALSE(promises_.IsOpenForBind(given_up + 1));
  promises_.DisallowBind(given_up);
  EXPECT_FALSE(promises_.IsOpenForBind(given_up));
  promises_.Complete(given_up, BERTH_SUCCESS, {});
  EXPECT_THAT(answers_, ElementsAre("a0")) << "it stays open";
  promises_.Complete(bind, BERTH_SUCCESS, {});
  EXPECT_FALSE(promises_.IsOpenForBind(bind));
}

// The answer, with what it captures, is destroyed when the promise is over and not earlier.
TEST_F(PromisesTest, KeepTheirAnswerAlive) {
  const auto held = std::make_shared<int>(0);
  const auto open = [&] { return promises_.Open([held](berth_code, const auto&) {}); };
  const Promises::Id completed = open();
  const Promises::Id closed = open();
  open();
  EXPECT_EQ(held.use_count(), 4);
  promises_.Complete(completed, BERTH_SUCCESS, {});
  EXPECT_EQ(held.use_count(), 3);
  promises_.Close(closed);
  EXPECT_EQ(held.use_count(), 2);
  EXPECT_EQ(promises_.CloseAll().size(), 1U);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(promises_.open_count(), 0U);
}

TEST_F(PromisesTest, NeverReuseAnId) {
  std::set<Promises::Id> ids;
  for (int i = 0; i < 1000; ++i) {
    const Promises::Id done = Open();
    ASSERT_NE(done, 0U);
    ASSERT_TRUE(ids.insert(done).second) << i;
    promises_.Complete(done, BERTH_SUCCESS, {});
  }
}

TEST_F(PromisesTest, AnAnswerMayOpenTheNext) {
  Promises::Id second = 0;
  const Promises::Id first =
      promises_.Open([&](berth_code, const auto&) { second = Open("second "); });
  promises_.Complete(first, BERTH_SUCCESS, {});
  ASSERT_NE(second, 0U);
  promises_.Complete(second, BERTH_SUCCESS, {});
  EXPECT_THAT(answers_, ElementsAre("second 0"));
}

}  // namespace
}  // namespace berth::host
