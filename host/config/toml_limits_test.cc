#include "host/config/toml_limits.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

// Returns "key <line>", "depth <line>", or nothing, with limits of three.
std::string Excess(std::string_view text) {
  const auto excess = FindTomlExcess(text, 3, 3);
  if (!excess.has_value()) return "";
  return (excess->is_key ? "key " : "depth ") + std::to_string(excess->line);
}

TEST(FindTomlExcessTest, CountsBracketsAndParts) {
  struct Case {
    const char* text;
    const char* excess;
  };
  const Case cases[] = {
      {"", ""},
      {"a.b.c = 1", ""},
      {"a.b.c.d = 1", "key 1"},
      {"\na . \"b\" . 'c' . d = 1", "key 2"},
      {"a.b.c = 1.5\nd.e.f = 2.5", ""},
      {"[a.b.c]", ""},
      {"[a.b.c.d]", "key 1"},
      {"[[a.b.c]]\n", ""},
      {"a = [1.5, 2.5, 3.5, 4.5]", ""},
      {"a = {b.c.d = 1, e.f.g = 2}", ""},
      {"a = {b.c.d.e = 1}", "key 1"},
      {"a = [[[1]]]", ""},
      {"a = [[[[1]]]]", ""},
      {"a = [[[[[1]]]]]", "depth 1"},
      {"a = [\n[\n[\n[\n{b = 1}]]]]", "depth 5"},
      {"a = [[1], [2], [3], [4], [5]]", ""},
      // The content of strings and comments does not count, wherever they end.
      {"a = \"1.2.3.4.5 [[[[[[\"", ""},
      {"a = '1.2.3.4.5 [[[[[[\\'\n", ""},
      {"# 1.2.3.4.5 [[[[[[\nb = 1", ""},
      {"a = \"\\\"1.2.3.4.5\"", ""},
      {"a = \"\"\"\n1.2.3\n.4.5 \\\"\"\" 1.2.3.4\"\"\"\nb.c.d.e = 1", "key 4"},
      {"a = '''\n1.2.3.4.5'''\nb.c.d.e = 1", "key 3"},
      {"a = \"\"\"x\"\"\"\"\"\nb.c.d.e = 1", "key 2"},
      {"a = [\"\"\"x\"\"\"\", {b.c.d.e = 1}]", "key 1"},
      {"a = [\"\"\"\"\"\", {b.c.d.e = 1}]", "key 1"},
      {"a = \"unclosed\nb.c.d.e = 1", "key 2"},
      {"a = \"unclosed\\\nb.c.d.e = 1", "key 2"},
      {"a = \"unclosed\\", ""},
      {"a = \"\"\"unclosed", ""},
      {"]]]]]]", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(Excess(c.text), c.excess) << c.text;
}

}  // namespace
}  // namespace berth::host
