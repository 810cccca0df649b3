#include "host/base/interner.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(Interner, EqualTextsShareIdAndOthersDoNot) {
  Interner interner;
  std::string text = "zone-a";
  const Id a = interner.Intern(text);
  text[5] = 'b';
  const Id b = interner.Intern(text);
  EXPECT_NE(a, b);
  EXPECT_EQ(interner.Intern("zone-a"), a);
  EXPECT_EQ(interner.Text(a), "zone-a");
  EXPECT_EQ(interner.Text(b), "zone-b");
  EXPECT_EQ(interner.size(), 3U);
}

TEST(Interner, NoIdAndEmptyIdAreDistinctConstants) {
  Interner interner;
  EXPECT_EQ(interner.Intern(""), kEmptyId);
  EXPECT_EQ(interner.Find(""), kEmptyId);
  EXPECT_EQ(interner.Text(kEmptyId), "");
  EXPECT_NE(interner.Hash(kEmptyId), 0U);
  EXPECT_EQ(interner.Text(kNoId), "");
  EXPECT_EQ(interner.Hash(kNoId), 0U);
  interner.Release(kEmptyId);
  interner.Release(kNoId);
  interner.AddRef(kNoId);
  EXPECT_EQ(interner.Sweep(), 0U);
  EXPECT_EQ(interner.Find(""), kEmptyId);
}

TEST(Interner, FindAddsNoReference) {
  Interner interner;
  EXPECT_EQ(interner.Find("a"), kNoId);
  const Id id = interner.Intern("a");
  EXPECT_EQ(interner.Find("a"), id);
  interner.Release(id);
  EXPECT_EQ(interner.Sweep(), 1U);
  EXPECT_EQ(interner.Find("a"), kNoId);
}

TEST(Interner, InternsTextsWithNullBytes) {
  Interner interner;
  const std::string with_null("a\0b", 3);
  const Id id = interner.Intern(with_null);
  EXPECT_NE(id, interner.Intern("a"));
  EXPECT_EQ(interner.Text(id), with_null);
}

TEST(Interner, HashIsHashOfTextWithTheKey) {
  const HashKey key = {1, 2};
  Interner first(key);
  Interner second(key);
  Interner low({2, 2});
  Interner high({1, 3});
  second.Intern("other");
  const Id a = first.Intern("kubernetes.io/hostname");
  const Id b = second.Intern("kubernetes.io/hostname");
  EXPECT_EQ(first.Hash(a), second.Hash(b));
  EXPECT_EQ(first.key(), key);
  for (Interner* other : {&low, &high}) {
    EXPECT_NE(other->Hash(other->Intern("kubernetes.io/hostname")), first.Hash(a));
  }
}

TEST(Interner, SweepsATextAfterItsLastRelease) {
  Interner interner;
  const Id id = interner.Intern("a");
  interner.Intern("a");
  interner.AddRef(id);
  for (int32_t held = 3; held > 0; --held) {
    EXPECT_EQ(interner.Sweep(), 0U) << held;
    EXPECT_EQ(interner.unreferenced(), 0U);
    interner.Release(id);
  }
  EXPECT_EQ(interner.unreferenced(), 1U);
  EXPECT_EQ(interner.Sweep(), 1U);
  EXPECT_EQ(interner.unreferenced(), 0U);
  EXPECT_EQ(interner.size(), 1U);
}

TEST(Interner, InterningAnUnreferencedTextReturnsItsFormerId) {
  Interner interner;
  const Id id = interner.Intern("a");
  interner.Release(id);
  EXPECT_EQ(interner.Text(id), "a");
  EXPECT_EQ(interner.Intern("a"), id);
  EXPECT_EQ(interner.unreferenced(), 0U);
  EXPECT_EQ(interner.Sweep(), 0U);
  EXPECT_EQ(interner.Text(id), "a");
}

TEST(Interner, ReusesSweptIds) {
  Interner interner;
  Id highest = 0;
  for (int32_t round = 0; round < 50; ++round) {
    std::vector<Id> ids;
    for (int32_t i = 0; i < 1000; ++i) {
      ids.push_back(interner.Intern("pod-" + std::to_string(round * 1000 + i)));
      highest = std::max(highest, ids.back());
    }
    for (const Id id : ids) interner.Release(id);
    EXPECT_EQ(interner.Sweep(), 1000U);
  }
  EXPECT_EQ(interner.size(), 1U);
  // Each shard keeps its own free ids, and its peak differs a little from round to round.
  EXPECT_LT(highest, 2000U);
}

TEST(Interner, ReferencedTextsKeepIdsAndAddressesAcrossSweeps) {
  Interner interner;
  std::vector<Id> ids;
  for (int32_t i = 0; i < 10'000; ++i) ids.push_back(interner.Intern(std::to_string(i)));
  const std::string_view kept = interner.Text(ids[7]);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i % 10 != 7) interner.Release(ids[i]);
  }
  EXPECT_EQ(interner.unreferenced(), 9000U);
  EXPECT_EQ(interner.Sweep(), 9000U);
  EXPECT_EQ(interner.Text(ids[7]).data(), kept.data());
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(interner.Find(std::to_string(i)), i % 10 == 7 ? ids[i] : kNoId) << i;
  }
}

TEST(Interner, HoldsTextsInSeveralChunks) {
  Interner interner;
  std::set<Id> distinct;
  std::vector<Id> ids;
  for (int32_t i = 0; i < 100'000; ++i) {
    ids.push_back(interner.Intern("label-" + std::to_string(i)));
    distinct.insert(ids.back());
  }
  EXPECT_EQ(distinct.size(), ids.size());
  EXPECT_EQ(interner.size(), ids.size() + 1);
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(interner.Text(ids[i]), "label-" + std::to_string(i));
  }
}

TEST(InternerDeathTest, ReleasingMoreOftenThanInternedFailsAnAssertion) {
  Interner interner;
  const Id id = interner.Intern("a");
  interner.Release(id);
  EXPECT_DEATH(interner.Release(id), "released more often than interned");
  EXPECT_DEATH(interner.AddRef(id), "assertion failed");
}

TEST(IdRefs, ReleasesItsReferencesWhenDestroyed) {
  Interner interner;
  {
    IdRefs refs(interner);
    const Id id = refs.Intern("a");
    refs.Add(interner.Intern("b"));
    EXPECT_EQ(refs.Intern("a"), id);
    EXPECT_EQ(refs.Intern(""), kEmptyId);
    EXPECT_EQ(refs.size(), 3U);
    EXPECT_EQ(interner.Sweep(), 0U);
  }
  EXPECT_EQ(interner.Sweep(), 2U);
}

TEST(IdRefs, MovingTransfersTheReferences) {
  Interner interner;
  IdRefs outer(interner);
  outer.Intern("old");
  {
    IdRefs inner(interner);
    inner.Intern("new");
    outer = std::move(inner);
  }
  EXPECT_EQ(interner.Sweep(), 1U);
  EXPECT_EQ(interner.Find("old"), kNoId);
  EXPECT_NE(interner.Find("new"), kNoId);
  const IdRefs moved(std::move(outer));
  EXPECT_EQ(moved.size(), 1U);
  EXPECT_EQ(interner.Sweep(), 0U);
}

}  // namespace
}  // namespace berth::host
