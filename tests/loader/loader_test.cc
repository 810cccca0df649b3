// LibraryStore and PluginCatalog with libraries that load: their descriptions, sharing of equal
// content, and private copies.
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>

#include "host/loader/plugin_catalog.h"
#include "host/loader/plugin_library.h"
#include "tests/loader/test_host.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LibraryStoreTest : public LoaderTest {
 protected:
  std::shared_ptr<PluginLibrary> MustLoad(const std::string& path) {
    auto library = store().Load(path, {});
    EXPECT_TRUE(library.ok()) << library.error().ToString();
    return library.ok() ? *library : nullptr;
  }
  static std::string FileOf(const PluginLibrary& library) {
    Dl_info info{};
    EXPECT_NE(::dladdr(&library.entry(), &info), 0);
    return info.dli_fname == nullptr ? "" : info.dli_fname;
  }
};

TEST_F(LibraryStoreTest, DescribesTheLibrary) {
  const std::string path = Variant("good");
  const auto library = MustLoad(path);
  ASSERT_NE(library, nullptr);
  const LibraryDescription& description = library->description();
  EXPECT_EQ(description.path, path);
  EXPECT_EQ(description.digest.size(), 64u);
  EXPECT_EQ(description.abi_major, 1);
  EXPECT_EQ(description.abi_minor, 0);
  EXPECT_EQ(description.min_host_minor, 0);
  EXPECT_TRUE(description.built_with_asserts);
  EXPECT_FALSE(description.built_with_sanitizer);
  EXPECT_THAT(description.warnings, IsEmpty());
  ASSERT_EQ(description.plugins.size(), 1u);
  const PluginInfo& info = description.plugins[0];
  EXPECT_EQ(info.name, "test.Variant");
  EXPECT_EQ(info.version, "1.0.0");
  EXPECT_EQ(info.about, "Breaks one rule at a time.");
  EXPECT_THAT(info.points, ElementsAre(BERTH_POINT_FILTER, BERTH_POINT_SCORE));
  EXPECT_THAT(info.services, ElementsAre(BERTH_SERVICE_LOG));
  EXPECT_THAT(info.kinds, ElementsAre("v1/Namespace"));
  EXPECT_THAT(info.fields, IsEmpty());
  EXPECT_EQ(info.args_schema, "{\"type\":\"object\"}");
  EXPECT_TRUE(info.blocks_in_bind);
  EXPECT_EQ(library->Find("test.Variant"), &info);
  EXPECT_EQ(library->Find("test.Other"), nullptr);
  EXPECT_EQ(library->note().plugins[0].name, "test.Variant");
}

TEST_F(LibraryStoreTest, LoadsALibraryWhoseDigestMatchesThePin) {
  const auto library = MustLoad(Variant("good"));
  ASSERT_NE(library, nullptr);
  LoadOptions options;
  options.sha256 = library->digest();
  EXPECT_TRUE(store().Load(Variant("good"), options).ok());
  std::transform(options.sha256.begin(), options.sha256.end(), options.sha256.begin(),
                 [](char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_TRUE(store().Load(Variant("good"), options).ok());
  // The pin is compared even if the content is already loaded.
  options.sha256.back() = options.sha256.back() == '0' ? '1' : '0';
  EXPECT_EQ(store().Load(Variant("good"), options).error().code, LoadErrorCode::kPinMismatch);
}

TEST_F(LibraryStoreTest, SharesOneLibraryForOneContent) {
  const auto first = MustLoad(Variant("good"));
  EXPECT_EQ(MustLoad(Variant("good")), first);
  EXPECT_EQ(MustLoad(CopyOf("good", "libsame.so")), first);
  EXPECT_EQ(store().size(), 1u);
  EXPECT_THAT(TakeTrace(), ElementsAre("constructor"));
}

TEST_F(LibraryStoreTest, LoadsAChangedFileBesideTheOldOne) {
  const std::string path = CopyOf("good", "libplugin.so");
  const auto before = MustLoad(path);
  ASSERT_EQ(CopyOf("good_v2", "libplugin.so"), path);
  const auto after = MustLoad(path);
  ASSERT_NE(before, nullptr);
  ASSERT_NE(after, nullptr);
  EXPECT_NE(before, after);
  EXPECT_NE(&before->entry(), &after->entry());
  EXPECT_EQ(before->infos()[0].version, "1.0.0");
  EXPECT_EQ(after->infos()[0].version, "2.0.0");
  EXPECT_STREQ(before->entry().plugins[0]->version, "1.0.0");
  EXPECT_STREQ(after->entry().plugins[0]->version, "2.0.0");
}

TEST_F(LibraryStoreTest, MapsAPrivateCopyNamedByItsDigest) {
  const auto library = MustLoad(Variant("good"));
  ASSERT_NE(library, nullptr);
  const std::filesystem::path copy = FileOf(*library);
  EXPECT_EQ(copy.filename().string(), library->digest() + ".so");
  struct stat status {};
  ASSERT_EQ(::stat(copy.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0500u);
  ASSERT_EQ(::stat(copy.parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
}

TEST_F(LibraryStoreTest, RemovesTheCopiesAndKeepsLibrariesMapped) {
  const auto library = MustLoad(Variant("good"));
  ASSERT_NE(library, nullptr);
  const std::filesystem::path copy = FileOf(*library);
  EndStore();
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_FALSE(std::filesystem::exists(copy.parent_path()));
  EXPECT_EQ(library->entry().magic, BERTH_MAGIC);
}

TEST_F(LibraryStoreTest, LoadsFromSealedMemory) {
  StartStore(CopyToMemory());
  const auto first = MustLoad(Variant("good"));
  const auto second = MustLoad(Variant("good_v2"));
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_THAT(FileOf(*first), HasSubstr("/proc/self/fd/"));
  EXPECT_EQ(first->infos()[0].version, "1.0.0");
  EXPECT_EQ(second->infos()[0].version, "2.0.0");
  std::ofstream memory(FileOf(*first), std::ios::in | std::ios::out | std::ios::binary);
  memory.put('x').flush();
  EXPECT_FALSE(memory.good());
}

TEST_F(LibraryStoreTest, DistinguishesSealedMemoryFilesOfDifferentStores) {
  for (const char* variant : {"good", "good_v2", "other"}) {
    StartStore(CopyToMemory());
    const auto library = MustLoad(Variant(variant));
    ASSERT_NE(library, nullptr);
    EXPECT_EQ(library->entry().plugins[0]->name, library->infos()[0].name);
    EXPECT_EQ(library->note().plugins[0].version, library->entry().plugins[0]->version);
  }
}

TEST_F(LibraryStoreTest, RefusesBrokenLibrariesFromMemory) {
  StartStore(CopyToMemory());
  EXPECT_EQ(store().Load(Variant("unresolved"), {}).error().code, LoadErrorCode::kDlopenFailed);
  EXPECT_EQ(store().Load(Variant("magic"), {}).error().code, LoadErrorCode::kEntryMagic);
}

TEST_F(LibraryStoreTest, RequiresATrustedRuntimeDirectory) {
  EXPECT_EQ(CopyToDirectory(At("absent")).error().code, LoadErrorCode::kNotFound);
  ASSERT_EQ(::mkdir(At("open").c_str(), 0755), 0);
  ASSERT_EQ(::chmod(At("open").c_str(), 0777), 0);
  EXPECT_EQ(CopyToDirectory(At("open")).error().code, LoadErrorCode::kWritableByOthers);
}

TEST_F(LibraryStoreTest, LoadsNewerPluginsThatRequireNothingNew) {
  const auto library = MustLoad(Variant("newer_minor"));
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(library->description().abi_minor, 9);
  EXPECT_THAT(library->infos()[0].points, ElementsAre("berth.filter/1", "berth.divine/1"));
}

#if defined(__x86_64__)
TEST_F(LibraryStoreTest, KeepsTheFloatingPointMode) {
  const uint32_t before = _mm_getcsr();
  const auto library = MustLoad(Variant("fast_math"));
  EXPECT_EQ(_mm_getcsr(), before);
  ASSERT_NE(library, nullptr);
  EXPECT_THAT(library->description().warnings, ElementsAre(HasSubstr("floating-point mode")));
}
#endif

using PluginCatalogTest = LibraryStoreTest;

TEST_F(PluginCatalogTest, FindsPluginsByName) {
  PluginCatalog catalog(store());
  ASSERT_TRUE(catalog.AddLibrary(Variant("good"), {}).ok());
  ASSERT_TRUE(catalog.AddLibrary(Variant("other"), {}).ok());
  const auto plugin = catalog.Find("test.Other");
  ASSERT_TRUE(plugin.ok());
  EXPECT_EQ(plugin->info->name, "test.Other");
  EXPECT_EQ(plugin->library->path(), At("libother.so"));
  EXPECT_EQ(catalog.plugins().size(), 2u);
}

TEST_F(PluginCatalogTest, AcceptsTheSameContentTwice) {
  PluginCatalog catalog(store());
  ASSERT_TRUE(catalog.AddLibrary(Variant("good"), {}).ok());
  EXPECT_TRUE(catalog.AddLibrary(Variant("good"), {}).ok());
  EXPECT_TRUE(catalog.AddLibrary(CopyOf("good", "libcopy.so"), {}).ok());
}

TEST_F(PluginCatalogTest, HoldsOneVersionPerGeneration) {
  PluginCatalog before(store());
  PluginCatalog after(store());
  ASSERT_TRUE(before.AddLibrary(Variant("good"), {}).ok());
  ASSERT_TRUE(after.AddLibrary(Variant("good_v2"), {}).ok());
  EXPECT_EQ(before.Find("test.Variant")->info->version, "1.0.0");
  EXPECT_EQ(after.Find("test.Variant")->info->version, "2.0.0");
}

TEST_F(PluginCatalogTest, ReportsBrokenLibrariesOfDirectoryAndKeepsOthers) {
  ASSERT_EQ(::mkdir(At("plugins").c_str(), 0755), 0);
  CopyOf("good", "plugins/libb.so");
  CopyOf("other", "plugins/libd.so");
  CopyOf("host_too_old", "plugins/liba.so");
  CopyOf("good_v2", "plugins/libc.so");
  CopyOf("no_note", "plugins/libunrelated.so");
  CopyOf("other", "plugins/readme.txt");
  CopyOf("other", "plugins/b.so");
  PluginCatalog catalog(store());
  const auto found = catalog.AddDirectory(At("plugins"), {});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 5u);
  EXPECT_EQ((*found)[0].error().code, LoadErrorCode::kHostTooOld);
  EXPECT_EQ((*(*found)[1])->path(), At("plugins/libb.so"));
  EXPECT_EQ((*found)[2].error().code, LoadErrorCode::kDuplicatePlugin);
  EXPECT_EQ((*(*found)[3])->path(), At("plugins/libd.so"));
  EXPECT_EQ((*found)[4].error().code, LoadErrorCode::kNoNote);
  EXPECT_EQ((*found)[4].error().path, At("plugins/libunrelated.so"));
  EXPECT_EQ(catalog.plugins().size(), 2u);
}

TEST_F(PluginCatalogTest, AddDirectoryRequiresADirectory) {
  PluginCatalog catalog(store());
  EXPECT_EQ(catalog.AddDirectory(At("absent"), {}).error().code, LoadErrorCode::kNotFound);
  EXPECT_EQ(catalog.AddDirectory(Variant("good"), {}).error().code, LoadErrorCode::kUnreadable);
}

}  // namespace
}  // namespace berth::host
