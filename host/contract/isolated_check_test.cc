#include "host/contract/isolated_check.h"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(OutcomeOfTest, ReadsTheLinesOfTheChild) {
  const std::string begin = "loaded\t\naccepted\t\n";
  const std::string unseen = "unseen\twhatif No pod was added.\n";
  const struct {
    const char* name;
    std::string text;
    bool is_checked;
    size_t gaps;
    const char* finding;  // The promise of the only finding; empty: none.
  } cases[] = {
      {"a complete check", begin + "checked\t6 6 1000 12 0\n", true, 0, ""},
      {"a complete check with gaps",
       begin + unseen + "unseen\thints Yes.\nchecked\t6 6 1000 12 0\n", true, 2, ""},
      {"a child that ends between its lines", begin + unseen, false, 0, "survives"},
      {"a child that ends before its lines", begin, false, 0, "survives"},
      {"a plugin that was not created", begin + "create\tcreate answers Error\nchecked\t\n", false,
       0, "create"},
      {"an exit after a gap", begin + unseen + "\nexit\texit(3) in Filter\n", false, 0, "survives"},
      {"a crash after a gap", begin + unseen + "\ncrash\tFilter 11\n", false, 0, "survives"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const ContractOutcome outcome = OutcomeOf({.text = c.text});
    EXPECT_TRUE(outcome.is_loaded);
    EXPECT_TRUE(outcome.is_accepted);
    ASSERT_EQ(outcome.coverage.has_value(), c.is_checked);
    EXPECT_EQ(c.is_checked ? outcome.coverage->gaps.size() : 0, c.gaps);
    EXPECT_EQ(outcome.findings.empty() ? "" : outcome.findings[0].promise, c.finding);
    EXPECT_LE(outcome.findings.size(), 1u);
  }
}

}  // namespace
}  // namespace berth::host
