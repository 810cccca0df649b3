#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

namespace berth {
namespace {

TEST(Status, CarriesACodeAndReasons) {
  EXPECT_TRUE(Status::Success().ok());
  EXPECT_TRUE(Status::Success().reasons().empty());
  const Status status = Status::Unschedulable("Insufficient cpu").Add("").Add("Too many pods");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), BERTH_UNSCHEDULABLE);
  EXPECT_EQ(status.reasons(), (std::vector<std::string>{"Insufficient cpu", "Too many pods"}));
  EXPECT_EQ(Status::Unresolvable("x").code(), BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE);
  EXPECT_EQ(Status::Error("x").code(), BERTH_ERROR);
  EXPECT_EQ(Status::Skip().code(), BERTH_SKIP);
  EXPECT_EQ(Status::Wait().code(), BERTH_WAIT);
  EXPECT_EQ(Status::Pending().code(), BERTH_PENDING);
  EXPECT_EQ(Status::Cancelled().code(), BERTH_CANCELLED);
}

TEST(Verdict, HasOneBitForEachReason) {
  EXPECT_EQ(Unschedulable(), (Verdict{BERTH_UNSCHEDULABLE, 0}));
  EXPECT_EQ(Unschedulable(0, 3), (Verdict{BERTH_UNSCHEDULABLE, 0b1001}));
  EXPECT_EQ(Unresolvable(63), (Verdict{BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, uint64_t{1} << 63}));
  EXPECT_EQ(Unschedulable(-1), (Verdict{BERTH_UNSCHEDULABLE, 0}))
      << "a reason that did not fit into the table";
  EXPECT_EQ(UnschedulableIf(false, 2), kPass);
  EXPECT_EQ(UnschedulableIf(true, 2), Unschedulable(2));
  EXPECT_EQ(UnresolvableIf(true, 2), Unresolvable(2));
}

// Another number must not become another reason.
TEST(Verdict, HasNoBitForNumberOutsideTheTable) {
  EXPECT_EQ(Unschedulable(63).reasons, uint64_t{1} << 63);
  for (const int reason : {-1, 64, 65, 128, std::numeric_limits<int>::min()}) {
    EXPECT_EQ(Unschedulable(reason).reasons, 0U) << reason;
    EXPECT_EQ(Unschedulable(reason).code, BERTH_UNSCHEDULABLE);
    EXPECT_EQ(UnresolvableIf(true, reason).reasons, 0U) << reason;
  }
}

TEST(Verdict, CombinesReasonsUnderTheMostSevereCode) {
  EXPECT_EQ(kPass | kPass, kPass);
  EXPECT_EQ(kPass | Unschedulable(1), Unschedulable(1));
  EXPECT_EQ(Unschedulable(1) | Unschedulable(2), Unschedulable(1, 2));
  EXPECT_EQ(Unresolvable(1) | Unschedulable(2), Unresolvable(1, 2));
  EXPECT_EQ(Unschedulable(1) | Unresolvable(2), Unresolvable(1, 2));
  EXPECT_EQ(Unresolvable(1) | Failed(2), Failed(1, 2))
      << "an error is more severe than a rejection";
  EXPECT_EQ(Failed(1) | kPass, Failed(1));
}

using Bytes = std::array<uint8_t, BERTH_SORT_KEY_SIZE>;

TEST(SortKey, ComparesByItsFieldsInTurn) {
  const auto key = [](int32_t priority, int64_t time) {
    return SortKey().Descending(priority).Ascending(time).bytes();
  };
  const struct {
    const char* name;
    Bytes first;
    Bytes second;
  } cases[] = {
      {"higher priority first", key(2, 9), key(1, 0)},
      {"priority 1 before 0", key(1, 0), key(0, 0)},
      {"priority 0 before -1", key(0, 9), key(-1, 0)},
      {"the highest priority before the lowest", key(INT32_MAX, 9), key(INT32_MIN, 0)},
      {"equal priority: earlier first", key(1, 1), key(1, 2)},
      {"negative times before zero", key(1, -1), key(1, 0)},
      {"bytes are compared unsigned", key(1, 127), key(1, 128)},
      {"carry into the next byte", key(1, 255), key(1, 256)},
      {"the lowest time first", key(1, INT64_MIN), key(1, INT64_MAX)},
  };
  for (const auto& c : cases) {
    EXPECT_LT(c.first, c.second) << c.name;
    EXPECT_FALSE(c.second < c.first) << c.name;
  }
  EXPECT_EQ(key(1, 2), key(1, 2));
}

TEST(SortKey, AcceptsUnsignedFieldsAndDropsExcessBytes) {
  EXPECT_LT(SortKey().Ascending(uint8_t{127}).bytes(), SortKey().Ascending(uint8_t{128}).bytes());
  EXPECT_LT(SortKey().Descending(uint64_t{9}).bytes(), SortKey().Descending(uint64_t{8}).bytes());
  SortKey full;
  for (int i = 0; i < 4; ++i) full.Ascending(int64_t{i});
  const Bytes before = full.bytes();
  EXPECT_EQ(full.Ascending(int64_t{5}).bytes(), before);
}

TEST(Span, ReadsElementsAtTheirStride) {
  struct Wide {
    berth_id_pair pair;
    uint64_t more;
  };
  const Wide wide[] = {{{1, 10}, 0}, {{3, 30}, 0}, {{5, 50}, 0}};
  const Labels labels(berth_array{wide, 3, sizeof(Wide)});
  std::vector<berth_id> keys;
  for (const berth_id_pair& pair : labels) keys.push_back(pair.key);
  EXPECT_EQ(keys, (std::vector<berth_id>{1, 3, 5}));
  EXPECT_EQ(labels.back().value, 50U);
  EXPECT_EQ(FindLabel(labels, 1), 10U);
  EXPECT_EQ(FindLabel(labels, 5), 50U);
  for (const berth_id missing : {0U, 2U, 4U, 6U}) EXPECT_EQ(FindLabel(labels, missing), 0U);
  EXPECT_EQ(FindLabel(Labels(), 1), 0U);
  const std::vector<berth_id_pair> own = {{7, 70}};
  EXPECT_EQ(FindLabel(Labels(own), 7), 70U);
}

}  // namespace
}  // namespace berth
