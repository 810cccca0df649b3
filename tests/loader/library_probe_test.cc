// Libraries that end or block the process that loads them, in a store with a probe.
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "host/loader/library_store.h"
#include "host/loader/plugin_catalog.h"
#include "tests/loader/test_host.h"

namespace berth::host {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

int64_t SteadyNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A handler of fork() takes no arguments.
std::atomic<int> forks = 0;  // NOLINT(readability-identifier-naming)

class LibraryProbeTest : public LoaderTest {
 protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(::pthread_atfork([] { ++forks; }, nullptr, nullptr), 0);
  }

  void SetUp() override {
    LoaderTest::SetUp();
    StartStore(CopyToMemory(), SteadyNs);
    forks = 0;
  }
  void TearDown() override {
    ::unsetenv("BERTH_TEST_MARK");
    LoaderTest::TearDown();
  }

  // Returns the message of the error.
  std::string TryToLoad(const std::string& path) {
    const auto library = store().Load(path, {});
    if (library.ok()) return "loaded";
    EXPECT_EQ(library.error().code, LoadErrorCode::kProbeFailed);
    EXPECT_EQ(library.error().path, path);
    return library.error().ToString();
  }
  // Copies each variant to a library of a folder, in this order, and adds the folder to `catalog`.
  // Returns "loaded" or the error for each.
  std::vector<std::string> AddFolder(PluginCatalog& catalog,
                                     const std::vector<std::string>& variants) {
    EXPECT_EQ(::mkdir(At("plugins").c_str(), 0755), 0);
    for (size_t i = 0; i < variants.size(); ++i) {
      CopyOf(variants[i], "plugins/lib" + std::to_string(i) + ".so");
    }
    auto found = catalog.AddDirectory(At("plugins"), {});
    EXPECT_TRUE(found.ok());
    std::vector<std::string> results;
    for (const auto& library : *found) {
      results.push_back(library.ok() ? "loaded" : library.error().found);
    }
    return results;
  }
};

constexpr const char* kAborts = "the library ends the process with SIGABRT while it is loaded";
constexpr const char* kExits = "the library ends the process with status 0 while it is loaded";

TEST_F(LibraryProbeTest, RefusesALibraryThatEndsTheProcess) {
  const struct {
    const char* variant;
    const char* message;
  } cases[] = {
      {"aborts", kAborts},
      {"bad_pointer", "the library ends the process with SIGSEGV while it is loaded"},
#ifndef __SANITIZE_ADDRESS__  // The sanitizer's check for leaks changes the exit status.
      {"exits", kExits},
#endif
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.variant);
    const std::string path = Variant(c.variant);
    EXPECT_EQ(TryToLoad(path), path + ": " + c.message + " [probe-failed]");
    EXPECT_THAT(TakeTrace(), ElementsAre("constructor")) << "expected only in the child process";
    EXPECT_EQ(forks, 1);
    forks = 0;
  }
  EXPECT_EQ(store().size(), 0u);
}

TEST_F(LibraryProbeTest, RefusesALibraryThatDoesNotFinishLoading) {
  const int64_t begin_ns = SteadyNs();
  const auto hurried = [begin_ns] { return begin_ns + (SteadyNs() - begin_ns) * 20; };
  StartStore(CopyToMemory(), hurried);
  const std::string path = Variant("hangs");
  EXPECT_EQ(TryToLoad(path),
            path + ": the library has not finished loading after 10 s [probe-failed]");
}

TEST_F(LibraryProbeTest, LoadsALibraryThatPassesTheProbe) {
  EXPECT_EQ(TryToLoad(Variant("good")), "loaded");
  EXPECT_THAT(TakeTrace(), ElementsAre("constructor", "constructor"));
  EXPECT_EQ(store().size(), 1u);
}

TEST_F(LibraryProbeTest, LeavesOtherErrorsToTheLoader) {
  const auto code = [this](const char* variant) {
    return store().Load(Variant(variant), {}).error().code;
  };
  EXPECT_EQ(code("unresolved"), LoadErrorCode::kDlopenFailed);
  EXPECT_EQ(code("magic"), LoadErrorCode::kEntryMagic);
  EXPECT_EQ(code("no_note"), LoadErrorCode::kNoNote);
  EXPECT_EQ(forks, 2) << "a library without a note is not probed";
}

TEST_F(LibraryProbeTest, ProbesEachContentOnce) {
  const std::string good = Variant("good");
  const std::string bad = Variant("aborts");
  const std::string refused = TryToLoad(bad);
  EXPECT_EQ(TryToLoad(good), "loaded");
  EXPECT_EQ(store().Load(Variant("magic"), {}).error().code, LoadErrorCode::kEntryMagic);
  EXPECT_EQ(forks, 3);
  TakeTrace();
  EXPECT_EQ(TryToLoad(bad), refused);
  EXPECT_EQ(TryToLoad(good), "loaded");
  EXPECT_EQ(TryToLoad(CopyOf("good", "libsame.so")), "loaded");
  EXPECT_THAT(TryToLoad(CopyOf("aborts", "libsame.so")), HasSubstr("libsame.so: the library ends"));
  EXPECT_EQ(store().Load(Variant("magic"), {}).error().code, LoadErrorCode::kEntryMagic);
  EXPECT_EQ(forks, 3);
  CopyOf("good_v2", "libaborts.so");
  EXPECT_EQ(TryToLoad(bad), "loaded") << "the file was replaced";
  EXPECT_EQ(forks, 4);
}

TEST_F(LibraryProbeTest, ProbesADirectoryInOneProcess) {
  PluginCatalog catalog(store());
  EXPECT_THAT(AddFolder(catalog, {"good", "other", "marks", "good"}), Each("loaded"));
  EXPECT_EQ(forks, 1);
  EXPECT_EQ(TakeTrace().size(), 6u) << "three contents, each in the child and in this process";
  EXPECT_EQ(catalog.plugins().size(), 3u);
}

TEST_F(LibraryProbeTest, LoadsTheOtherLibrariesOfADirectory) {
  PluginCatalog catalog(store());
  EXPECT_THAT(AddFolder(catalog, {"aborts", "good", "bad_pointer", "other", "aborts"}),
              ElementsAre(kAborts, "loaded", HasSubstr("SIGSEGV"), "loaded", kAborts));
  // All five; then the second to the last; then the third alone; then the rest.
  EXPECT_EQ(forks, 4);
  EXPECT_EQ(catalog.plugins().size(), 2u);
}

TEST_F(LibraryProbeTest, RefusesALibraryThatFailsOnlyAfterOthers) {
  PluginCatalog catalog(store());
  EXPECT_THAT(
      AddFolder(catalog, {"marks", "aborts_after_mark"}),
      ElementsAre("loaded", std::string(kAborts) +
                                " after other libraries (1), but not when it is the first"));
}

TEST_F(LibraryProbeTest, WorksWhileOtherThreadsRun) {
  const std::vector<PluginLibrary::Source> sources = {*store().Prepare(Variant("good"), {}),
                                                      *store().Prepare(Variant("aborts"), {})};
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&done] {
      while (!done) {
        const std::string text(10'000, 'x');  // Holds locks of the C library now and then.
        EXPECT_EQ(std::vector<std::string>(10, text).size(), 10u);
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    const auto errors = ProbeLibraries(sources, SteadyNs);
    ASSERT_TRUE(errors.ok());
    EXPECT_FALSE((*errors)[0].has_value()) << (*errors)[0]->found;
    ASSERT_TRUE((*errors)[1].has_value());
    EXPECT_EQ((*errors)[1]->found, kAborts);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace berth::host
