"""Tests of the lints."""

import unittest

import depth
import layering
import pages
import plain_english
import readme
import sizes
import test_names
import words


class Layering(unittest.TestCase):
    CASES = [
        # file, bracket, name, allowed
        ("host/cycle/a.cc", '"', "host/runtime/points/run_filter.h", True),
        ("host/cycle/a.cc", '"', "host/cycle/b.h", True),
        ("host/runtime/points/a.cc", '"', "host/cycle/b.h", False),
        ("host/queue/a.cc", '"', "host/cache/node_table.h", False),
        ("host/cluster/a.cc", '"', "host/cache/node_table.h", False),
        ("host/api/a.cc", '"', "host/cluster/client.h", False),
        ("host/base/a.cc", '"', "host/api/quantity.h", False),
        ("host/api/a.cc", '"', "host/base/status.h", True),
        ("host/guard/a.cc", '"', "host/plan/plan.h", False),
        ("host/runtime/points/a.cc", '"', "host/guard/call_monitor.h", True),
        ("host/contract/a.cc", '"', "host/process/assemble/profile_set.h", False),
        ("host/contract/a.cc", '"', "host/loader/library.h", True),
        ("host/process/run/a.cc", '"', "host/cycle/b.h", True),
        ("host/process/run/a.cc", '"', "host/cli/output.h", False),
        ("host/main.cc", '"', "host/cli/cli.h", True),
        ("host/cli/a.cc", '"', "host/loader/library.h", True),
        ("host/cycle/a.cc", '"', "host/loader/library.h", False),
        ("host/contract/a.cc", '"', "host/config/profile.h", True),
        ("host/config/a.cc", '"', "host/base/status.h", True),
        ("host/config/a.cc", '"', "host/queue/b.h", False),
        ("host/elsewhere/a.cc", '"', "host/base/status.h", False),
        ("host/api/a.cc", '"', "quantity.h", False),
        ("host/api/a.cc", '"', "host/api/../cycle/b.h", False),
        ("host/api/a.cc", "<", "host/api/quantity.h", False),
        ("host/api/a.cc", "<", "berth/abi.h", True),
        ("host/api/a.cc", '"', "berth/abi.h", False),
        ("host/api/a.cc", "<", "yaml-cpp/yaml.h", True),
        ("host/api/a.cc", '"', "plugins/node_name/node_name.h", False),
        ("host/cycle/a_test.cc", '"', "tests/harness/harness.h", True),
        ("host/cycle/a.cc", '"', "tests/harness/harness.h", False),
        ("host/cycle/test_a.h", '"', "tests/harness/harness.h", False),
        ("host/cycle/a_test.cc", '"', "tests/integration/cli_fixture.h", False),
        ("plugins/node_name/node_name.cc", "<", "berth/plugin.h", True),
        ("plugins/node_name/node_name.cc", "<", "string_view", True),
        ("plugins/node_name/node_name.cc", "<", "boost/dll.hpp", False),
        ("plugins/node_name/node_name.cc", "<", "unistd.h", False),
        ("plugins/node_name/node_name.cc", '"', "host/base/status.h", False),
        ("plugins/node_name/node_name.cc", '"', "plugins/node_name/match.h", True),
        ("plugins/node_name/node_name.cc", '"', "plugins/node_ports/match.h", False),
        ("plugins/node_name/node_name.cc", "<", "berth/testing/builders.h", False),
        ("plugins/node_name/node_name_test.cc", "<", "berth/testing/builders.h", True),
        ("plugins/node_name/node_name_test.cc", "<", "gtest/gtest.h", True),
        ("plugins/node_name/node_name.cc", "<", "gtest/gtest.h", False),
        ("sdk/include/berth/abi.h", "<", "stdint.h", True),
        ("sdk/include/berth/abi.h", "<", "cstdint", False),
        ("sdk/include/berth/filter.h", "<", "cstdint", True),
        ("sdk/include/berth/filter.h", '"', "abi.h", False),
        ("tests/integration/a_test.cc", '"', "host/cli/cli.h", True),
        ("tests/integration/a_test.cc", '"', "plugins/node_name/match.h", False),
    ]

    def test_includes(self):
        layers = layering.read_layers()
        for path, bracket, name, allowed in self.CASES:
            with self.subTest(path=path, name=name):
                problem = layering.check_include(path, bracket, name)
                if path.startswith("host/") and name.startswith("host/"):
                    problem = problem or layers.check(layering.room_of(path), layering.room_of(name),
                                                      layering.is_test(path))
                self.assertEqual(problem is None, allowed, problem)

    def test_rooms(self):
        layers = layering.Layers("[layers]\ntop\na/x  a/y\na\nlow  side\n"
                                 "[users]\nside: top a\n")
        for user, used, allowed in [("top", "a/x", True), ("a/x", "a", True), ("a", "a/x", False),
                                    ("a/x", "a/y", False), ("low", "side", False),
                                    ("a/x", "side", True), ("a", "nowhere", False)]:
            with self.subTest(user=user, used=used):
                self.assertEqual(layers.check(user, used) is None, allowed)
        self.assertIsNotNone(layering.Layers("[layers]\nb\nc\n[users]\nc: d\n").check("b", "c"))
        libraries = layering.Layers("[layers]\na\nb\n[libraries]\nboost/asio: b\n")
        self.assertIsNotNone(libraries.check_library("a", "boost/asio/post.hpp"))
        self.assertIsNone(libraries.check_library("b", "boost/asio/post.hpp"))
        self.assertIsNone(libraries.check_library("a", "boost/url.hpp"))
        self.assertIsNone(layers.check("a", "a/x", is_test=True))
        self.assertIsNotNone(layers.check("low", "a/x", is_test=True))

    def test_guard(self):
        self.assertEqual(layering.expected_guard("sdk/include/berth/abi.h"), "BERTH_ABI_H_")
        self.assertEqual(layering.expected_guard("host/api/quantity.h"), "BERTH_HOST_API_QUANTITY_H_")


class Sizes(unittest.TestCase):
    def lengths(self, text):
        return [(sizes.name_of(head), last - first + 1)
                for first, last, head in sizes.functions(text)]

    def test_functions(self):
        for text, expected in [
            ("int F() {\n  return 1;\n}\n", [("F", 3)]),
            ("namespace a {\nint F() {\n}\n}\n", [("F", 2)]),
            ("class A : B {\n public:\n  A() : a_{1}, b_(2) {\n  }\n  int c_{3};\n};\n", [("A", 2)]),
            ("void F(S s = {}) {\n  if (s) {\n  }\n}\n", [("F", 4)]),
            ('const char* F() {\n  return "}";  // }\n}\n', [("F", 3)]),
            ("const int kTable[] = {\n  1,\n  2,\n};\n", []),
            ("TEST(A, B) {\n}\nTEST(A, C) {\n\n}\n", [("TEST(A, B)", 2), ("TEST(A, C)", 3)]),
            ("BERTH_PLUGIN(A)\n\nnamespace a {\nint F() {\n}\n}\n", [("F", 2)]),
            ("#define M(x) {\nint F() { return 1'000; }\n", [("F", 1)]),
            ('int F() {\n  return P(R"({{)");\n}\n', [("F", 3)]),
            ("struct A;\nint F(struct A* a)\n{\n}\n", [("F", 3)]),
        ]:
            with self.subTest(text=text):
                self.assertEqual(self.lengths(text), expected)


class Readme(unittest.TestCase):
    def test_cases(self):
        test = "kRunning = {{{1, 36}, 7}, {{1, 37}, 8}};\nconstexpr size_t kCases = 9;\n"
        found = [("1.36", "7", "9"), ("1.37", "8", "9")]
        self.assertEqual(readme.find_cases(test, "| 1.36.2 | 7 | 9 |\n| 1.37.2 | 8 | 9 |\n"),
                         (found, found))
        self.assertEqual(readme.find_cases(test, "| 1.36.2 | 6 | 9 |\n"),
                         (found, [("1.36", "6", "9")]))
        self.assertEqual(readme.find_cases("", ""), ([], []))

    def test_points(self):
        self.assertEqual(readme.points_of("# A\nExtension points: PreFilter, Filter, "
                                          "EnqueueExtensions. Maturity: beta.\n"),
                         ["PreFilter", "Filter"])
        self.assertIsNone(readme.points_of("# A\n"))

    def test_table(self):
        plugins = {"a": ["PreScore", "Score"]}
        for cells, wrong in [("PreScore, Score", 0), ("Score", 1), ("Score, PreScore", 1)]:
            with self.subTest(cells=cells):
                text = f"| plugin | points |\n|---|---|\n| [A](a) | {cells} | what |\n"
                self.assertEqual(len(readme.check_table(text, plugins)), wrong)

    def test_layers(self):
        self.assertEqual(readme.layers_of("# Text\n\n[layers]\na  b\nc\n\n[users]\nd\n"), "a  b\nc")

    def test_headers(self):
        text = "[a.h](include/berth/a.h), `<berth/b.h>`, c.h"
        self.assertEqual(readme.missing_headers(text, ["a.h", "b.h", "c.h"]), ["c.h"])

    def test_sections(self):
        text = "# Page\na\n## One\nb\n### Part\nc\n## Two\nd\n"
        self.assertEqual(readme.section_of(text, "## One"), "\n\n## One\nb\n### Part\nc\n\n\n")
        self.assertEqual(readme.section_of(text, "## Three").strip(), "")

    def test_samples(self):
        source = "  if (a) {\n    b();\n  }\n\nc();\n"
        for sample, missing in [("if (a) {\n  b();\n}", []), ("c();", []), ("  c();", []),
                                ("if (a) {\nb();\n}", [2]), ("if (a) {\n  b();\n}\nc();", [2]),
                                ("d();", [2])]:
            with self.subTest(sample=sample):
                text = f"A sample:\n```cpp\n{sample}\n```\n```\nno.cc\n```\n"
                self.assertEqual(readme.missing_samples(text, source), missing)


class Pages(unittest.TestCase):
    def form(self, text):
        return [number for number, _ in pages.check_form(list(enumerate(text.split("\n"), 1)))]

    def test_form(self):
        wide, line = "x" * 101, "A line.\n"
        for text, expected in [
            ("x" * 100, []), (wide, [1]), (f"```\n{wide}\n```", [2]), (f"| {wide} | b |", []),
            (f"| {'x' * 201} |", [1]), (f"| [{'x' * 99}]({'y' * 199}) |", []), ("| a \\| b |", []),
            (line * 9, []), (line * 10, [10]), (line * 9 + "\n" + line * 9, []),
            ("- " + line * 9 + "- " + line * 9, []), ("- " + line * 10, [10]),
            ("```\n" + line * 20 + "```", []),
        ]:
            with self.subTest(text=text[:40]):
                self.assertEqual(self.form(text), expected)

    def test_links(self):
        texts = {"a/b.md": "# One, two\n## The `C` way\n```\n# no\n```\n", "a": "", "b.md": "# B\n"}
        for target, wrong in [("b.md", 0), ("../b.md", 0), ("c.md", 1), ("b.md#one-two", 0),
                              ("b.md#the-c-way", 0), ("b.md#no", 1), ("../b.md#c", 1), ("#c", 1),
                              ("#one-two", 0), ("../a", 0), ("https://example.com/x", 0)]:
            with self.subTest(target=target):
                found = pages.check_links("a/b.md", [(1, f"See [x]({target}).")], texts.get)
                self.assertEqual(len(list(found)), wrong)

    def test_names(self):
        for text, wrong in [("`Cache`", 0), ("`Cash`", 1), ("`Cache::Add()`", 0), ("`Cache::Put()`", 1),
                            ("`--flag`, `a.h`, `PUT`", 0), ("Cash", 0), ("`Cash` or `Coin`", 2)]:
            with self.subTest(text=text):
                found = pages.check_names([(1, text)], {"Cache", "Add"})
                self.assertEqual(len(list(found)), wrong)


class Words(unittest.TestCase):
    def test_unfinished(self):
        for text, found in [("// TO" + "DO: more", True), ("not " + "implemented", True),
                            ("a stub" + "born pod", False), ("for " + "now", True),
                            ("for nowhere", False)]:
            with self.subTest(text=text):
                self.assertEqual(words.UNFINISHED.search(text) is not None, found)

    def test_machine(self):
        for text, found in [("/ho" + "me/me/berth/x", True), ("/wo" + "rk/main/x", True),
                            ("https://example.com/wo" + "rk/x", False), ("/usr/lib/x", False)]:
            with self.subTest(text=text):
                self.assertEqual(words.MACHINE_PATH.search(text) is not None, found)


class Depth(unittest.TestCase):
    def header(self, text, source=""):
        return depth.Header("host/a/b.h", depth.clean(text), depth.clean(source))

    def rules(self, header, users=("host/a/c.cc", "host/a/d.cc")):
        return [rule for rule, _, _, _ in depth.check(header, users)]

    def test_reads_types(self):
        header = self.header("""
namespace a {
class B : public C {  // A class { of one line.
 public:
  explicit B(int a = F({})) : a_{a} {}
  ~B();
  B(const B&) = delete;
  using Id = int;
  struct Options { int x = 0; int y{1}; };
  enum class Kind { kOne, kTwo };
  int Get() const { return a_; }
 private:
  friend class D;
  int Secret();
  int a_;
};
class E;
int Free(int a);
inline constexpr int kLimit = 3;
}
""")
        self.assertEqual([(each.name, len(each.public), each.functions) for each in header.types],
                         [("B", 2, 3), ("B::Options", 2, 0)])
        # B with its constructor and Get, Options, Free, and the constant.
        self.assertEqual((header.declarations, header.hidden), (6, 2))

    def test_members(self):
        members = "".join(f"  int f{i}();\n" for i in range(depth.MAX_MEMBERS + 1))
        self.assertEqual(self.rules(self.header(f"struct A {{\n{members}}};", "x;\n" * 99)), ["members"])
        self.assertEqual(self.rules(self.header(f"class A {{\n{members}}};", "x;\n" * 99)), [])

    def test_ratio(self):
        text = "".join(f"int f{i}();  // Comments\n// do not count.\n" for i in range(8))
        self.assertEqual(self.rules(self.header(text, "x;\n" * 16)), [])
        self.assertEqual(self.rules(self.header(text, "x;\n" * 15)), ["ratio"])
        self.assertEqual(self.rules(self.header("struct A {\n" + "  int a;\n" * 20 + "};")), [])
        pure = "struct A {\n" + "  virtual void F() = 0;\n" * 9 + "};\nint F() { return 1; }"
        self.assertEqual(self.rules(self.header(pure)), [])

    def test_shorter(self):
        text = "struct A {\n" + "  int a;\n" * 9 + "};\nvoid F();\n"
        self.assertEqual(self.rules(self.header(text, "x;\n" * 11)), ["shorter"])
        self.assertEqual(self.rules(self.header(text, "x;\n" * 12)), [])
        self.assertEqual(self.rules(self.header(text)), [])

    def test_forward(self):
        forward = "".join(f"  void Do{i}(int a) {{ to_->Do{i}(a); }}\n" for i in range(3))
        self.assertEqual(self.rules(self.header(f"struct A {{\n{forward}  int G();\n}};")), ["forward"])
        self.assertEqual(self.rules(self.header(f"struct A {{\n{forward}{'  int G();' * 3}}};")), [])
        for body, expected in [(" return to_.Get(1); ", True), (" return to_.Take(); ", False),
                               (" Log(); return to_.Get(1); ", False), (" to()->Get(a,\n b); ", True)]:
            self.assertEqual(depth.is_forward("int Get(int a)", body), expected, body)

    def test_users(self):
        self.assertEqual(self.rules(self.header("int F();", "x;\n" * 28), {"c.h"}), ["lonely"])
        self.assertEqual(self.rules(self.header("int F();", "x;\n" * 29), {"c.h"}), [])
        self.assertEqual(self.rules(self.header("int F();", "x;\n" * 90), set()), ["unused"])


class PlainEnglish(unittest.TestCase):
    def test_joins_the_lines_of_a_comment(self):
        pattern = plain_english.pattern_for("a.h")
        lines = list(enumerate(["// One", "// sentence.", "int a;  // trailing", "/// Doc."], 1))
        self.assertEqual(list(plain_english.blocks(lines, pattern)),
                         [(1, "One sentence."), (3, "trailing"), (4, "Doc.")])

    def test_checks_the_beginning_and_the_words_of_a_sentence(self):
        for text, is_clear in (("Returns the node.", True), ("Who is told what was decided.", False),
                               ("The same for a group.", False), ("The plugin says so.", False),
                               ("What the pod requests.", True), ("None of both: an error.", False)):
            self.assertEqual(plain_english.check_sentence(text) is None, is_clear, text)


class TestNames(unittest.TestCase):
    def test_words(self):
        for name, count in (("Splits", 1), ("KeepsANode", 3), ("ANodeOfHTTPServers", 5),
                            ("LimitsTo65536Rows", 4), ("PreFilterRunsOnce", 3),
                            ("PreBindPreFlightAndPostBind", 3), ("PreparesAPod", 3)):
            with self.subTest(name):
                self.assertEqual(len(test_names.words(name)), count)

    def test_reports_long_names_and_other_styles(self):
        for text, count in (("TEST(HeapTest, KeepsItsOrder) {", 0),
                            ("TEST_F(HeapTest,\n       AThingThatIsSaidInTooManyWordsOfText) {", 1),
                            ("TEST_P(HeapTest, OneTwoThreeFourFiveSixSevenEight) {", 0),
                            ("TEST(ParseHeap, KeepsItsOrder) {", 0),
                            ("TYPED_TEST(Heap, KeepsItsOrder) {", 1),
                            ("class Heap : public ::testing::Test {", 1),
                            ("class HeapTest : public ::testing::TestWithParam<int> {", 0),
                            ("TEST(HeapTest, Keeps_its_order) {", 1),
                            ("INSTANTIATE_TEST_SUITE_P(All, Heap, Values(1));", 0)):
            with self.subTest(text):
                self.assertEqual(len(test_names.problems(text)), count)

    def test_names_the_line_of_a_test(self):
        self.assertEqual(test_names.problems("\n\nTEST(HeapTest, is_empty) {")[0][0], 3)


if __name__ == "__main__":
    unittest.main()
