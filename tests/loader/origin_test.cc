// Plugin libraries that find further libraries through $ORIGIN: beside them, or in a folder whose
// place is relative to theirs.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "host/loader/elf_image.h"
#include "host/loader/elf_rename.h"
#include "host/loader/origin_libraries.h"
#include "tests/loader/test_host.h"

namespace berth::host {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

class OriginTest : public LoaderTest {
 protected:
  void SetUp() override {
    LoaderTest::SetUp();
    working_directory_ = fs::current_path();
    fs::current_path("/");
  }
  void TearDown() override {
    fs::current_path(working_directory_);
    LoaderTest::TearDown();
  }

  // Puts the plugin library of a variant, or the side library `side`, at a path below directory(),
  // as an installer does: a file that is in use keeps its content.
  std::string Install(const std::string& variant, const std::string& file) {
    MakeFolderOf(file);
    CopyOf(variant, "new");
    fs::rename(At("new"), At(file));
    return At(file);
  }
  std::string InstallSide(const std::string& side, const std::string& name,
                          const std::string& folder) {
    const std::string file = folder.empty() ? name : folder + "/" + name;
    MakeFolderOf(file);
    fs::copy_file(std::string(BERTH_LOADER_SIDES "/") + side + "/" + name, At("new"));
    ::chmod(At("new").c_str(), 0755);
    fs::rename(At("new"), At(file));
    return At(file);
  }

  // Loads the library. Returns the functions that ran: "side 1" if the plugin called side library
  // 1. Returns the error if the library is refused.
  std::vector<std::string> LoadAndTrace(const std::string& path) {
    const auto library = store().Load(path, {});
    std::vector<std::string> trace = TakeTrace();
    if (!library.ok()) trace.push_back(library.error().ToString());
    return trace;
  }
  LoadError RefusalOf(const std::string& path) {
    const auto library = store().Load(path, {});
    EXPECT_FALSE(library.ok());
    return library.ok() ? LoadError{} : library.error();
  }

 private:
  void MakeFolderOf(const std::string& file) {
    const fs::path folder = fs::path(At(file)).parent_path();
    fs::create_directories(folder);
    for (fs::path at = folder; at.string().size() > directory().size(); at = at.parent_path()) {
      ::chmod(at.c_str(), 0755);
    }
  }

  fs::path working_directory_;
};

TEST_F(OriginTest, FindsLibrariesFromDirectoryAndMemoryCopies) {
  for (const bool in_memory : {false, true}) {
    if (in_memory) StartStore(CopyToMemory());
    for (const char* folder : {"", "/lib", "/../shared"}) {
      const std::string base =
          std::string(in_memory ? "memory" : "files") + std::to_string(std::string(folder).size());
      SCOPED_TRACE(base + folder);
      const std::string plugin = Install("beside", base + "/plugins/libplugin.so");
      InstallSide("one", "libside.so.1", base + "/plugins" + folder);
      EXPECT_THAT(LoadAndTrace(plugin), ElementsAre("constructor", "side 1"));
    }
  }
}

TEST_F(OriginTest, PrefersEarlierRunPaths) {
  const std::string plugin = Install("beside", "plugins/libplugin.so");
  InstallSide("two", "libside.so.1", "plugins");
  InstallSide("one", "libside.so.1", "plugins/lib");
  EXPECT_THAT(LoadAndTrace(plugin), ElementsAre("constructor", "side 2"));
}

TEST_F(OriginTest, FindsLibrariesThatHaveNoName) {
  const std::string plugin = Install("beside_nameless", "libplugin.so");
  InstallSide("nameless", "libnameless.so", "");
  EXPECT_THAT(LoadAndTrace(plugin), ElementsAre("constructor", "side 3"));
}

TEST_F(OriginTest, GivesEveryPluginItsOwnVersion) {
  const std::string first = Install("beside", "a/libplugin.so");
  InstallSide("one", "libside.so.1", "a");
  const std::string second = Install("beside", "b/libplugin.so");
  InstallSide("two", "libside.so.1", "b");
  const std::vector<std::string> paths = {first, second};
  for (const auto& library : store().LoadAll(paths, {})) {
    EXPECT_TRUE(library.ok()) << library.error().ToString();
  }
  EXPECT_THAT(TakeTrace(), ElementsAre("constructor", "side 1", "constructor", "side 2"));
  EXPECT_EQ(store().size(), 2u);
}

TEST_F(OriginTest, LoadsAPluginAgainAfterItsLibraryChanged) {
  const std::string plugin = Install("beside", "libplugin.so");
  InstallSide("one", "libside.so.1", "");
  EXPECT_THAT(LoadAndTrace(plugin), ElementsAre("constructor", "side 1"));
  EXPECT_THAT(LoadAndTrace(plugin), IsEmpty());
  InstallSide("two", "libside.so.1", "");
  EXPECT_THAT(LoadAndTrace(plugin), ElementsAre("constructor", "side 2"));
  // A new plugin beside the new library, and the old library again.
  Install("beside_v2", "libplugin.so");
  EXPECT_THAT(LoadAndTrace(plugin), ElementsAre("constructor", "side 2"));
  InstallSide("one", "libside.so.1", "");
  EXPECT_THAT(LoadAndTrace(plugin), ElementsAre("constructor", "side 1"));
  EXPECT_EQ(store().size(), 4u);
}

TEST_F(OriginTest, KeepsTheDigestOfTheFile) {
  const std::string plugin = Install("beside", "libplugin.so");
  InstallSide("one", "libside.so.1", "");
  LoadOptions options;
  options.sha256 = std::string(64, '0');
  const LoadError error = store().Load(plugin, options).error();
  EXPECT_EQ(error.code, LoadErrorCode::kPinMismatch);
  options.sha256 = error.found;
  const auto library = store().Load(plugin, options);
  ASSERT_TRUE(library.ok()) << library.error().ToString();
  EXPECT_EQ((*library)->digest(), options.sha256);
  EXPECT_EQ((*library)->path(), plugin);
}

TEST_F(OriginTest, TakesLibrariesOfTheProcessFirst) {
  const std::string plugin = Install("beside_libm", "libplugin.so");
  std::ofstream(At("libm.so.6")) << "not a library";
  EXPECT_THAT(LoadAndTrace(plugin), ElementsAre("constructor"));
}

TEST_F(OriginTest, NamesALibraryThatIsMissing) {
  const LoadError error = RefusalOf(Install("beside_nameless", "libplugin.so"));
  EXPECT_EQ(error.code, LoadErrorCode::kDlopenFailed);
  EXPECT_THAT(error.ToString(), HasSubstr("libnameless.so: cannot open shared object file"));
}

TEST_F(OriginTest, RefusesLibrariesThatPluginsMayNotHave) {
  const std::string plugin = Install("beside", "libplugin.so");
  const std::string side = InstallSide("one", "libside.so.1", "");
  ::chmod(side.c_str(), 0777);
  EXPECT_THAT(RefusalOf(plugin).ToString(),
              AllOf(HasSubstr(plugin + ": expected of the needed library " + side),
                    HasSubstr("[writable-by-others]")));
  std::ofstream(At("new")) << "not a library";
  fs::rename(At("new"), side);
  EXPECT_THAT(RefusalOf(plugin).ToString(),
              HasSubstr("expected of the needed library " + side + ": an ELF file, found"));
  InstallSide("stack", "libside.so.1", "");
  EXPECT_EQ(RefusalOf(plugin).code, LoadErrorCode::kExecutableStack);
  EXPECT_THAT(TakeTrace(), IsEmpty());
  InstallSide("one", "libside.so.1", "");
  EXPECT_THAT(LoadAndTrace(plugin), ElementsAre("constructor", "side 1"));
}

TEST_F(OriginTest, PassesOverLibrariesForAnotherMachine) {
  const std::string plugin = Install("beside", "libplugin.so");
  const std::string side = InstallSide("two", "libside.so.1", "");
  Patch(side, 18, std::string_view("\xf3\0", 2));
  InstallSide("one", "libside.so.1", "lib");
  EXPECT_THAT(LoadAndTrace(plugin), ElementsAre("constructor", "side 1"));
}

TEST_F(OriginTest, RefusesFoldersThatRunPathsCannotName) {
  const std::string plugin = Install("beside", "a:b/libplugin.so");
  EXPECT_EQ(RefusalOf(plugin).code, LoadErrorCode::kRunPathToken);
}

// A library beside a plugin finds a further one by its name, of which the process has one.
TEST_F(OriginTest, RefusesTwoLibrariesThatNeedOneName) {
  const std::string first = Install("beside_outer", "a/libplugin.so");
  InstallSide("outer", "libouter.so.1", "a/lib");
  const std::string inner = InstallSide("inner_one", "libinner.so.1", "a/lib");
  EXPECT_THAT(LoadAndTrace(first), ElementsAre("constructor", "side 5"));
  const std::string second = Install("beside_outer", "b/libplugin.so");
  InstallSide("outer", "libouter.so.1", "b/lib");
  const std::string other = InstallSide("inner_two", "libinner.so.1", "b/lib");
  const LoadError error = RefusalOf(second);
  EXPECT_EQ(error.code, LoadErrorCode::kLibraryConflict);
  EXPECT_THAT(error.ToString(),
              HasSubstr(second + ": expected " + other + " as the library libinner.so.1, found " +
                        inner + ", which a plugin has loaded"));
  // The same content at another path is no conflict.
  const std::string third = Install("beside_outer", "c/libplugin.so");
  InstallSide("outer", "libouter.so.1", "c/lib");
  InstallSide("inner_one", "libinner.so.1", "c/lib");
  EXPECT_THAT(LoadAndTrace(third), ElementsAre("constructor", "side 5"));
  EXPECT_THAT(LoadAndTrace(first), IsEmpty());
  InstallSide("inner_two", "libinner.so.1", "a/lib");
  EXPECT_THAT(RefusalOf(first).ToString(), HasSubstr(inner + " with other content, which"));
}

TEST_F(OriginTest, RenamesDependenciesAndNothingElse) {
  const auto file = ReadTrustedFile(Install("beside", "libplugin.so"), {});
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  const auto before = ElfImage::Parse(file->bytes);
  ASSERT_TRUE(before.ok());
  const auto same = RenameDependencies(file->bytes, [](auto name) { return std::string(name); });
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(*same, file->bytes);
  const std::string long_path = "/" + std::string(5000, 'x');
  const auto bytes = RenameDependencies(file->bytes, [&](std::string_view name) {
    return name == "libside.so.1" ? long_path : ExpandOrigin(name, "/folder");
  });
  ASSERT_TRUE(bytes.ok());
  const auto after = ElfImage::Parse(*bytes);
  ASSERT_TRUE(after.ok()) << after.error().ToString();
  EXPECT_THAT(after->needed(), Contains(long_path));
  EXPECT_EQ(after->needed().size(), before->needed().size());
  // A sanitizer adds a run path.
  EXPECT_THAT(after->run_paths(),
              IsSupersetOf({"/nowhere", "/folder", "/folder/lib", "/folder/../shared"}));
  EXPECT_EQ(after->run_paths().size(), before->run_paths().size());
  EXPECT_EQ(after->imports().size(), before->imports().size());
  ASSERT_EQ(after->exports().size(), 1u);
  EXPECT_EQ(after->exports()[0].name, "berth_entry_v1");
  EXPECT_EQ(after->exports()[0].size, before->exports()[0].size);
  EXPECT_EQ(after->FindNotes(BERTH_NOTE_NAME, BERTH_NOTE_TYPE).size(), 1u);
  EXPECT_FALSE(after->executable_stack());
}

TEST(ExpandOrigin, ReplacesWhatTheDynamicLinkerReplaces) {
  struct Case {
    const char* text;
    const char* expanded;
  };
  for (const Case& c :
       {Case{"$ORIGIN", "/p"}, Case{"${ORIGIN}/../lib", "/p/../lib"},
        Case{"/a:$ORIGIN/lib:${ORIGIN}", "/a:/p/lib:/p"}, Case{"$ORIGINAL", "$ORIGINAL"},
        Case{"$ORIGIN_", "$ORIGIN_"}, Case{"${ORIGIN", "${ORIGIN"}, Case{"$LIB/$ORIGIN", "$LIB//p"},
        Case{"$$ORIGIN", "$/p"}, Case{"", ""}, Case{"$", "$"}}) {
    EXPECT_EQ(ExpandOrigin(c.text, "/p"), c.expanded) << c.text;
  }
}

}  // namespace
}  // namespace berth::host
