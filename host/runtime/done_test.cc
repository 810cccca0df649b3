#include "host/runtime/done.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PromisesTest : public ::testing::Test {
 protected:
  berth_done* Open(const std::string& name = "") {
    return promises_->Open([this, name](berth_code code, std::string_view reason) {
      answers_.push_back(name + std::to_string(code) + std::string(reason));
    });
  }

  std::shared_ptr<Promises> promises_ = Promises::Make();
  std::vector<std::string> answers_;
};

TEST_F(PromisesTest, AreAnsweredOnce) {
  berth_done* done = Open();
  EXPECT_EQ(promises_->open_count(), 1U);
  Promises::Complete(done, BERTH_ERROR, "boom");
  EXPECT_EQ(promises_->open_count(), 0U);
  Promises::Complete(done, BERTH_SUCCESS, "");
  EXPECT_THAT(answers_, ElementsAre("1boom"));
  EXPECT_FALSE(promises_->Close(done));
}

TEST_F(PromisesTest, ClosedPromisesAreNotAnswered) {
  berth_done* done = Open();
  EXPECT_TRUE(promises_->Close(done));
  EXPECT_FALSE(promises_->Close(done));
  Promises::Complete(done, BERTH_SUCCESS, "");
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(PromisesTest, AreIndependent) {
  berth_done* a = Open("a");
  berth_done* b = Open("b");
  EXPECT_NE(a, b);
  Promises::Complete(b, BERTH_SUCCESS, "");
  Promises::Complete(a, BERTH_SKIP, "");
  EXPECT_THAT(answers_, ElementsAre("b0", "a5"));
}

TEST_F(PromisesTest, NullIsNoPromise) {
  Promises::Complete(nullptr, BERTH_SUCCESS, "");
  EXPECT_THAT(answers_, IsEmpty());
}

// The answer, with what it captures, is destroyed when the promise is over and not earlier.
TEST_F(PromisesTest, KeepTheirAnswerAlive) {
  const auto held = std::make_shared<int>(0);
  const auto open = [&] { return promises_->Open([held](berth_code, std::string_view) {}); };
  berth_done* completed = open();
  berth_done* closed = open();
  open();
  EXPECT_EQ(held.use_count(), 4);
  Promises::Complete(completed, BERTH_SUCCESS, "");
  EXPECT_EQ(held.use_count(), 3);
  promises_->Close(closed);
  EXPECT_EQ(held.use_count(), 2);
  promises_->CloseAll();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(promises_->open_count(), 0U);
}

// An entry is reused, with a different handle in each of its generations.
TEST_F(PromisesTest, HandlesAreNotReusedSoon) {
  std::set<berth_done*> names;
  const size_t count = Promises::kRestingEntries * Promises::kGenerations;
  for (size_t i = 0; i < count; ++i) {
    berth_done* done = Open();
    ASSERT_TRUE(names.insert(done).second) << i;
    Promises::Complete(done, BERTH_SUCCESS, "");
  }
  EXPECT_TRUE(names.contains(Open()));
}

TEST_F(PromisesTest, AnAnswerMayOpenTheNext) {
  berth_done* second = nullptr;
  berth_done* first =
      promises_->Open([&](berth_code, std::string_view) { second = Open("second "); });
  Promises::Complete(first, BERTH_SUCCESS, "");
  ASSERT_NE(second, nullptr);
  Promises::Complete(second, BERTH_SUCCESS, "");
  EXPECT_THAT(answers_, ElementsAre("second 0"));
}

TEST_F(PromisesTest, CompletionForMayBeCalledAfterTheTableIsDestroyed) {
  const auto during = Promises::CompletionFor(Open("a"));
  const auto after = Promises::CompletionFor(Open("b"));
  during(BERTH_SUCCESS, "");
  promises_.reset();
  after(BERTH_SUCCESS, "");
  EXPECT_THAT(answers_, ElementsAre("a0"));
}

// The next instance continues with the generations of the table, so that old handles stay invalid.
TEST_F(PromisesTest, ATableIsReusedByTheNextInstanceOfItsOwner) {
  PromiseTables tables;
  std::shared_ptr<Promises> first = tables.Take("a");
  const auto nobody = [](berth_code, std::string_view) {
    ADD_FAILURE() << "the promise is closed";
  };
  berth_done* left = first->Open(nobody);
  first->CloseAll();
  tables.GiveBack("a", first);
  EXPECT_NE(tables.Take("b"), first);
  const std::shared_ptr<Promises> second = tables.Take("a");
  EXPECT_EQ(second, first);
  EXPECT_NE(tables.Take("a"), first) << "the table is in use";
  std::vector<berth_done*> open;
  for (size_t i = 0; i < 2 * Promises::kRestingEntries; ++i) {
    open.push_back(second->Open(nobody));
    EXPECT_NE(open.back(), left);
  }
  Promises::Complete(left, BERTH_SUCCESS, "");
  EXPECT_EQ(second->open_count(), open.size());
}

}  // namespace
}  // namespace berth::host
