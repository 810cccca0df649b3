#include "host/base/sample.h"

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

struct Case {
  const char* what;
  std::multiset<std::string, std::less<>> names;
  size_t limit;
  std::vector<std::string> expected;
};

const Case kCases[] = {
    {"nothing", {}, 3, {}},
    {"fewer than the limit", {"b/1", "a/2", "a/1"}, 4, {"a/1", "a/2", "b/1"}},
    {"one namespace with many",
     {"a/1", "a/2", "a/3", "a/4", "b/1", "c/1"},
     3,
     {"a/1", "b/1", "c/1"}},
    {"more places than namespaces", {"a/1", "a/2", "a/3", "a/4", "b/1"}, 3, {"a/1", "a/2", "b/1"}},
    {"more namespaces than places", {"a/1", "b/1", "c/1", "d/1"}, 2, {"a/1", "b/1"}},
    {"names without a namespace", {"n1", "n2", "n3"}, 2, {"n1", "n2"}},
    {"a namespace that begins as another one",
     {"a-b/1", "a/1", "a/2", "ab/1"},
     3,
     {"a-b/1", "a/1", "ab/1"}},
    {"equal names", {"a/1", "a/1", "b/1"}, 3, {"a/1", "a/1", "b/1"}},
    {"no places", {"a/1"}, 0, {}},
};

TEST(SampleOfTest, NamesTheFirstOfEachNamespace) {
  for (const Case& c : kCases) {
    const Sample sample = SampleOf(c.names, c.limit, std::identity(), std::identity());
    EXPECT_EQ(sample.count, c.names.size()) << c.what;
    EXPECT_EQ(sample.examples, c.expected) << c.what;
  }
}

}  // namespace
}  // namespace berth::host
