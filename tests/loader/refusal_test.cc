// Tests every reason for which the loader rejects a library. Each case uses a real file.
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "host/loader/plugin_catalog.h"
#include "host/loader/plugin_library.h"
#include "tests/loader/test_host.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Refusal {
  LoadErrorCode code;
  std::string_view message;  // A part of the error.
  bool before_code_runs;
};

class RefusalTest : public LoaderTest {
 protected:
  // Loads `path` and expects the error that `refusal` describes.
  void ExpectRefused(const std::string& path, const Refusal& refusal,
                     const LoadOptions& options = {}) {
    const auto library = store().Load(path, options);
    ASSERT_FALSE(library.ok()) << path;
    const std::string text = library.error().ToString();
    EXPECT_EQ(LoadErrorName(library.error().code), LoadErrorName(refusal.code)) << text;
    EXPECT_EQ(library.error().path, path);
    EXPECT_THAT(text, HasSubstr(std::string(refusal.message)));
    if (refusal.before_code_runs) {
      EXPECT_THAT(TakeTrace(), IsEmpty()) << text;
    } else {
      EXPECT_THAT(TakeTrace(), ElementsAre("constructor")) << text;
    }
    EXPECT_EQ(store().size(), 0u);
  }
  void ExpectRefused(const std::string& path, LoadErrorCode code, std::string_view message,
                     const LoadOptions& options = {}) {
    ExpectRefused(path, Refusal{code, message, true}, options);
  }
  void ExpectRefusedAfterLoading(const std::string& path, LoadErrorCode code,
                                 std::string_view message) {
    ExpectRefused(path, Refusal{code, message, false});
  }

  // Returns how many private copies of libraries exist.
  uint64_t CountCopies() const {
    uint64_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory())) {
      count += entry.path().filename().string().size() == 64 + 3 ? 1u : 0u;
    }
    return count;
  }
};

// ---- The file -----------------------------------------------------------------------------------

TEST_F(RefusalTest, NotFound) {
  ExpectRefused(At("libabsent.so"), LoadErrorCode::kNotFound, "No such file or directory");
}

TEST_F(RefusalTest, NotARegularFile) {
  ExpectRefused(directory(), LoadErrorCode::kNotARegularFile, "expected a regular file");
}

TEST_F(RefusalTest, WrongOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = Variant("good");
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  ExpectRefused(path, LoadErrorCode::kWrongOwner, "found user 65534");
}

TEST_F(RefusalTest, WritableByGroup) {
  const std::string path = Variant("good");
  ASSERT_EQ(::chmod(path.c_str(), 0775), 0);
  ExpectRefused(path, LoadErrorCode::kWritableByOthers, "found mode 0775");
}

TEST_F(RefusalTest, DirectoryWritableByOthers) {
  ASSERT_EQ(::mkdir(At("sub").c_str(), 0755), 0);
  const std::string path = CopyOf("good", "sub/libgood.so");
  ASSERT_EQ(::chmod(At("sub").c_str(), 0777), 0);
  ExpectRefused(path, LoadErrorCode::kWritableByOthers, "directory " + At("sub"));
}

TEST_F(RefusalTest, Unreadable) {
  // A regular file of this user whose first byte cannot be read, not even by root.
  ExpectRefused("/proc/self/mem", LoadErrorCode::kUnreadable, "Input/output error");
}

TEST_F(RefusalTest, TooLarge) {
  LoadOptions options;
  options.trust.max_bytes = 100;
  ExpectRefused(Variant("good"), LoadErrorCode::kTooLarge, "at most 100 bytes", options);
}

TEST_F(RefusalTest, PinMismatch) {
  LoadOptions options;
  options.sha256 = std::string(64, '0');
  ExpectRefused(Variant("good"), LoadErrorCode::kPinMismatch, "expected sha256 0000", options);
}

// ---- The ELF file and its note ------------------------------------------------------------------

TEST_F(RefusalTest, NotElf) {
  std::ofstream(At("libtext.so")) << "INPUT(-lm)\n";
  ExpectRefused(At("libtext.so"), LoadErrorCode::kNotElf, "expected an ELF file");
}

TEST_F(RefusalTest, EmptyFile) {
  std::ofstream(At("libempty.so")).flush();
  ExpectRefused(At("libempty.so"), LoadErrorCode::kNotElf, "expected an ELF file");
}

TEST_F(RefusalTest, WrongMachine) {
  const std::string path = Variant("good");
  Patch(path, offsetof(Elf64_Ehdr, e_machine), std::string_view("\xf3\0", 2));
  ExpectRefused(path, LoadErrorCode::kWrongMachine, "found riscv");
}

TEST_F(RefusalTest, WrongClass) {
  const std::string path = Variant("good");
  Patch(path, EI_CLASS, "\1");
  ExpectRefused(path, LoadErrorCode::kWrongMachine, "found a 32-bit one");
}

TEST_F(RefusalTest, NotASharedObject) {
  const std::string self = std::filesystem::canonical("/proc/self/exe").string();
  LoadOptions options;
  options.trust.check_owner = false;  // The owner of the build tree may be any user.
  ExpectRefused(self, LoadErrorCode::kNotSharedObject, "executable", options);
}

TEST_F(RefusalTest, Truncated) {
  const std::string path = Variant("good");
  std::filesystem::resize_file(path, 2000);
  ExpectRefused(path, LoadErrorCode::kBadElf, "the end of the file");
}

TEST_F(RefusalTest, NoNote) {
  ExpectRefused(Variant("no_note"), LoadErrorCode::kNoNote, ".note.berth");
}

TEST_F(RefusalTest, BadNote) {
  ExpectRefused(Variant("bad_note"), LoadErrorCode::kBadNote,
                "expected a value at \"/abi\" in the note, found nothing");
}

TEST_F(RefusalTest, AbiMajor) {
  ExpectRefused(Variant("wrong_major"), LoadErrorCode::kAbiMajor,
                "expected ABI version 1, found version 2");
}

TEST_F(RefusalTest, HostTooOld) {
  ExpectRefused(Variant("host_too_old"), LoadErrorCode::kHostTooOld, "a plugin that requires 1.9");
}

TEST_F(RefusalTest, SanitizerRuntime) {
  ExpectRefused(Variant("sanitized"), LoadErrorCode::kSanitizerRuntime, "san.so");
}

TEST_F(RefusalTest, MuslLibc) {
  ExpectRefused(Variant("musl"), LoadErrorCode::kOtherLibc,
                "is linked against musl libc (libc.musl-x86_64.so.1), and this host runs on "
                "glibc; build it for glibc");
}

TEST_F(RefusalTest, ExecutableStack) {
  ExpectRefused(Variant("executable_stack"), LoadErrorCode::kExecutableStack,
                "found one that requests it; link it with -Wl,-z,noexecstack");
}

TEST_F(RefusalTest, RunPathToken) {
  ExpectRefused(Variant("token_run_path"), LoadErrorCode::kRunPathToken,
                "except for $ORIGIN, found \"$ORIGIN/$LIB\"");
}

TEST_F(RefusalTest, RelativeRunPath) {
  ExpectRefused(Variant("relative_run_path"), LoadErrorCode::kRelativeRunPath, "found \"lib\"");
}

TEST_F(RefusalTest, TwoExports) {
  ExpectRefused(Variant("two_exports"), LoadErrorCode::kExports,
                "found 1 more: berth_test_second_export; link it with "
                "-Wl,--version-script=<libdir>/cmake/berth/berth_plugin.version, a file of the "
                "SDK (pkg-config --variable=plugin_version_script berth-sdk) [exports]");
}

TEST_F(RefusalTest, ExportsOfGo) {
  ExpectRefused(Variant("go_exports"), LoadErrorCode::kExports,
                "found 1 more: _cgo_test_export; build it with go build -buildmode=c-shared "
                "-ldflags '-extldflags \"-Wl,--version-script=");
}

TEST_F(RefusalTest, NoExport) {
  ExpectRefused(Variant("no_export"), LoadErrorCode::kExports, "found no such symbol");
}

// ---- Loading the library ------------------------------------------------------------------------

TEST_F(RefusalTest, CopyFailed) {
  for (const auto& entry : std::filesystem::directory_iterator(directory())) {
    if (entry.is_directory()) std::filesystem::remove_all(entry.path());
  }
  ExpectRefused(Variant("good"), LoadErrorCode::kCopyFailed, "No such file or directory");
}

TEST_F(RefusalTest, UnresolvedSymbol) {
  ExpectRefused(Variant("unresolved"), LoadErrorCode::kDlopenFailed,
                "undefined symbol: berth_test_undefined_function");
  EXPECT_EQ(CountCopies(), 0u);
}

TEST_F(RefusalTest, EntryMagic) {
  ExpectRefusedAfterLoading(Variant("magic"), LoadErrorCode::kEntryMagic, "found 1 ");
}

TEST_F(RefusalTest, EntrySize) {
  ExpectRefusedAfterLoading(Variant("entry_size"), LoadErrorCode::kEntrySize, "found 8 ");
}

TEST_F(RefusalTest, AbiDraft) {
  std::array<char, 32> draft;
  std::snprintf(draft.data(), draft.size(), "draft %016" PRIx64, uint64_t{BERTH_ABI_DRAFT});
  const std::string expected =
      std::string("expected ") + draft.data() + " of <berth/abi.h>, found ";
  const std::string remedy = "; build the plugin again with the SDK of this host";
  ExpectRefusedAfterLoading(Variant("other_draft"), LoadErrorCode::kAbiDraft,
                            expected + "draft 0000000000001234" + remedy);
  ExpectRefusedAfterLoading(Variant("no_draft"), LoadErrorCode::kAbiDraft,
                            expected + "a draft without a digest" + remedy);
}

TEST_F(RefusalTest, NoCreate) {
  ExpectRefusedAfterLoading(Variant("no_create"), LoadErrorCode::kEntryFunction,
                            "expected create to be set");
}

TEST_F(RefusalTest, CreateInAnotherLibrary) {
  ExpectRefusedAfterLoading(Variant("create_elsewhere"), LoadErrorCode::kEntryFunction,
                            "expected create to be a function of this library");
}

TEST_F(RefusalTest, BadInfo) {
  ExpectRefusedAfterLoading(Variant("bad_info"), LoadErrorCode::kBadInfo, "found no name");
  ExpectRefusedAfterLoading(
      Variant("info_flags"), LoadErrorCode::kBadInfo,
      "plugin \"test.Variant\": expected plugin info 0 with flags within 0x1, "
      "found 0x7");
  ExpectRefusedAfterLoading(Variant("bad_field"), LoadErrorCode::kBadInfo,
                            "plugin \"test.Variant\": expected in fields a field of a Pod of "
                            "Kubernetes 1.37, found \"Pod:/spec/hostIpc\"; did you mean "
                            "Pod:/spec/hostIPC?");
}

TEST_F(RefusalTest, NoteDiffersFromEntry) {
  ExpectRefusedAfterLoading(
      Variant("note_differs"), LoadErrorCode::kNoteDiffersFromEntry,
      "plugins[0].name test.Variant, as in the note, found test.Impostor in the entry");
}

TEST_F(RefusalTest, UnknownPoint) {
  ExpectRefusedAfterLoading(Variant("unknown_point"), LoadErrorCode::kUnknownPoint,
                            "found berth.filter/9");
}

TEST_F(RefusalTest, RefusesTheSameLibraryAgain) {
  for (int i = 0; i < 2; ++i) {
    const auto library = store().Load(Variant("magic"), {});
    ASSERT_FALSE(library.ok());
    EXPECT_EQ(library.error().code, LoadErrorCode::kEntryMagic);
  }
}

// ---- The catalog --------------------------------------------------------------------------------

TEST_F(RefusalTest, DuplicatePluginNamesBothFiles) {
  PluginCatalog catalog(store());
  const std::string first = Variant("good");
  const std::string second = Variant("good_v2");
  ASSERT_TRUE(catalog.AddLibrary(first, {}).ok());
  const auto duplicate = catalog.AddLibrary(second, {});
  ASSERT_FALSE(duplicate.ok());
  EXPECT_EQ(duplicate.error().code, LoadErrorCode::kDuplicatePlugin);
  EXPECT_EQ(duplicate.error().path, second);
  EXPECT_EQ(duplicate.error().plugin, "test.Variant");
  EXPECT_THAT(duplicate.error().found, HasSubstr(first));
  EXPECT_EQ(catalog.Find("test.Variant")->info->version, "1.0.0");
}

TEST_F(RefusalTest, UnknownPluginListsTheKnownOnes) {
  PluginCatalog catalog(store());
  EXPECT_THAT(catalog.Find("test.Variant").error().ToString(), HasSubstr("found no plugins"));
  ASSERT_TRUE(catalog.AddLibrary(Variant("good"), {}).ok());
  ASSERT_TRUE(catalog.AddLibrary(Variant("other"), {}).ok());
  const auto plugin = catalog.Find("test.Varient");
  ASSERT_FALSE(plugin.ok());
  EXPECT_EQ(plugin.error().code, LoadErrorCode::kUnknownPlugin);
  EXPECT_THAT(plugin.error().ToString(), HasSubstr("only test.Other, test.Variant"));
}

}  // namespace
}  // namespace berth::host
