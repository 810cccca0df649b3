#include "host/api/selector.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(Selector, ValidatesLabelKeys) {
  const std::string name(63, 'a');
  const std::string prefix = std::string(249, 'p') + ".com";
  const std::string good[] = {"a",     "A.b-c_9", name,          "example.com/" + name,
                              "a.b/c", "9",       prefix + "/x", "kubernetes.io/hostname"};
  const std::string bad[] = {"",      "-a",   "a-",      "a b",    name + "a", "/a",
                             "a/",    "A/b",  "a/b/c",   "a..b/c", ".a/b",     "p" + prefix + "/x",
                             "a_b/c", "-a/b", "\xc3\xa9"};
  for (const std::string& key : good) EXPECT_TRUE(IsLabelKey(key)) << key;
  for (const std::string& key : bad) EXPECT_FALSE(IsLabelKey(key)) << key;
}

TEST(Selector, ValidatesLabelValues) {
  const std::string value(63, 'a');
  for (const std::string& good : {std::string(), std::string("a"), value, std::string("1.2_3-x")}) {
    EXPECT_TRUE(IsLabelValue(good)) << good;
  }
  for (const std::string& bad :
       {value + "a", std::string("-"), std::string("a/b"), std::string("a "), std::string(".a")}) {
    EXPECT_FALSE(IsLabelValue(bad)) << bad;
  }
}

}  // namespace
}  // namespace berth::host
