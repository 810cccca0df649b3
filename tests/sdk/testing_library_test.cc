// Tests one plugin in C and in C++, built by each available compiler and standard library, and
// loaded as the host loads it.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

using ::testing::HasSubstr;

// Returns the libraries that were built, in the folder BERTH_TEST_PLUGINS.
std::vector<std::string> Libraries() {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(BERTH_TEST_PLUGINS)) {
    if (file.path().extension() == ".so") paths.push_back(file.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class LibraryTest : public ::testing::TestWithParam<std::string> {
 protected:
  static Scenario ThreeNodes(Args args) {
    return {.nodes = {MakeNode("a").CpuMilli(1000).UsedCpuMilli(400), MakeNode("b").CpuMilli(2000),
                      MakeNode("c").CpuMilli(100)},
            .args = std::move(args)};
  }
};

TEST_P(LibraryTest, Filter) {
  auto plugin = PluginUnderTest::FromLibrary(GetParam(), ThreeNodes({{"cpuMilli", 200}}));
  const struct {
    const char* name;
    int64_t cpu_milli;
    std::vector<std::string> fitting;
  } cases[] = {
      {"leaves exactly the headroom on a", 400, {"a", "b"}},
      {"one thousandth more", 401, {"b"}},
      {"fits on no node", 1801, {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plugin.Filter(MakePod("p").CpuMilli(c.cpu_milli)).Fitting(), c.fitting);
  }
  EXPECT_EQ(plugin.Filter(MakePod("p")).On("c"), Unschedulable("Insufficient cpu headroom"));
}

TEST_P(LibraryTest, FilterKeeps500MilliCpuFreeByDefault) {
  auto plugin = PluginUnderTest::FromLibrary(GetParam(), ThreeNodes({}));
  EXPECT_EQ(plugin.Filter(MakePod("p").CpuMilli(100)).Fitting(),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(plugin.Filter(MakePod("p").CpuMilli(101)).Fitting(), (std::vector<std::string>{"b"}));
}

TEST_P(LibraryTest, Score) {
  auto plugin = PluginUnderTest::FromLibrary(GetParam(), ThreeNodes({}));
  const ScoreResult result = plugin.Score(MakePod("p").CpuMilli(100));
  EXPECT_EQ(result.raw, (std::map<std::string, int64_t>{{"a", 500}, {"b", 1900}, {"c", 0}}));
  EXPECT_EQ(result.normalized, (std::map<std::string, int64_t>{{"a", 26}, {"b", 100}, {"c", 0}}));
}

TEST_P(LibraryTest, Arguments) {
  const Answer answer =
      PluginUnderTest::CreateFromLibrary(GetParam(), {.args = {{"cpuMilli", -1}}});
  EXPECT_EQ(answer.code, BERTH_BAD_ARGUMENT);
  ASSERT_EQ(answer.reasons.size(), 1u);
  EXPECT_THAT(answer.reasons[0], HasSubstr("/cpuMilli: expected"));
}

TEST_P(LibraryTest, ExceptionsDoNotLeaveTheLibrary) {
  if (GetParam().find("libc_") != std::string::npos) GTEST_SKIP() << "C has none";
  auto plugin = PluginUnderTest::FromLibrary(GetParam(), ThreeNodes({}));
  const FilterResult result = plugin.Filter(MakePod("throws"));
  EXPECT_EQ(result.pre_filter.code, BERTH_BUG);
  ASSERT_EQ(result.pre_filter.reasons.size(), 1u);
  EXPECT_THAT(result.pre_filter.reasons[0], HasSubstr("as asked"));
}

// The library "cpp_clang_libcxx" must have been built against libc++, not against libstdc++.
TEST_P(LibraryTest, UsesTheStandardLibraryOfItsName) {
  void* const handle = dlopen(GetParam().c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const link_map* map = nullptr;
  ASSERT_EQ(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
  std::string needed;
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) needed += std::string(" ") + (strings + entry->d_un.d_val);
  }
  const bool libcxx = GetParam().find("libcxx") != std::string::npos;
  const bool c = GetParam().find("libc_") != std::string::npos;
  EXPECT_EQ(needed.find(" libc++") != std::string::npos, libcxx) << needed;
  EXPECT_EQ(needed.find(" libstdc++") != std::string::npos, !libcxx && !c) << needed;
}

INSTANTIATE_TEST_SUITE_P(All, LibraryTest, ::testing::ValuesIn(Libraries()), [](const auto& test) {
  std::string name = std::filesystem::path(test.param).stem().string().substr(3);
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
});

}  // namespace
}  // namespace berth::testing
