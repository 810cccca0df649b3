// Libraries that must not be loaded, and the error for each.
#ifndef BERTH_TESTS_INTEGRATION_HOSTILE_LIBRARIES_H_
#define BERTH_TESTS_INTEGRATION_HOSTILE_LIBRARIES_H_

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace berth::host {

struct HostileLibrary {
  const char* name;     // A description.
  const char* variant;  // The library of tests/loader that is copied.
  std::function<void(const std::string& path)> damage;  // Changes the copy. May be empty.
  const char* more;                                     // More keys of the plugin in the profile.
  const char* message;                                  // Part of the error.
};

inline std::vector<HostileLibrary> HostileLibraries() {
  namespace fs = std::filesystem;
  const auto write = [](const char* text) {
    return [text](const std::string& path) { std::ofstream(path) << text; };
  };
  const auto poke = [](std::streamoff at, char byte) {
    return [at, byte](const std::string& path) {
      std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(at).put(byte);
    };
  };
  const auto point_elsewhere = [](const char* where) {
    return [where](const std::string& path) {
      fs::remove(path);
      fs::create_symlink(where, path);
    };
  };
  constexpr std::streamoff kMachine = 18;  // e_machine of an ELF header.
  return {
      {"a text file", "good", write("INPUT(-lm)\n"), "", "expected an ELF file"},
      {"an empty file", "good", write(""), "", "expected an ELF file"},
      {"a truncated library", "good", [](const std::string& path) { fs::resize_file(path, 2000); },
       "", "the end of the file"},
      {"a library for another machine", "good", poke(kMachine, '\xf3'), "", "found riscv"},
      {"a library with another ABI version", "wrong_major", nullptr, "", "found version 2"},
      {"a library for a newer host", "host_too_old", nullptr, "", "a plugin that requires 1.9"},
      {"a library without a note", "no_note", nullptr, "", ".note.berth"},
      {"a note that differs from the entry", "note_differs", nullptr, "", "found test.Impostor"},
      {"a library with a sanitizer", "sanitized", nullptr, "", "san.so"},
      {"two exported symbols", "two_exports", nullptr, "", "berth_test_second_export"},
      {"no exported symbol", "no_export", nullptr, "", "found no such symbol"},
      {"an undefined symbol", "unresolved", nullptr, "", "undefined symbol"},
      {"a run path with $LIB", "token_run_path", nullptr, "", "$ORIGIN/$LIB"},
      {"a missing library beside the plugin", "beside_nameless", nullptr, "",
       "libnameless.so: cannot open shared object file"},
      {"a library for musl", "musl", nullptr, "", "is linked against musl libc"},
      {"a library that requests an executable stack", "executable_stack", nullptr, "",
       "-Wl,-z,noexecstack"},
      {"a library of another draft", "other_draft", nullptr, "", "draft 0000000000001234"},
      {"a failing init", "init_fails", nullptr, "", "init"},
      {"a constructor that aborts", "aborts", nullptr, "",
       "libhostile.so: the library ends the process with SIGABRT while it is loaded"},
      {"a constructor that exits", "exits", nullptr, "",
       "libhostile.so: the library ends the process with status "},
      {"an entry with an invalid pointer", "bad_pointer", nullptr, "",
       "libhostile.so: the library ends the process with SIGSEGV while it is loaded"},
      {"a file that the group can write", "good",
       [](const std::string& path) { chmod(path.c_str(), 0775); }, "", "found mode 0775"},
      {"a link to a file that is not a library", "good", point_elsewhere("/etc/passwd"), "", "ELF"},
      {"a link to a device", "good", point_elsewhere("/dev/null"), "", "expected a regular file"},
      {"a dangling link", "good", point_elsewhere("nowhere"), "", "No such file"},
      {"a library with another digest", "good", nullptr,
       "sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"\n",
       "expected sha256 0000"},
      {"a library without the plugin", "other", nullptr, "", "test.Variant"},
  };
}

// Creates the library at `path`.
inline void Plant(const HostileLibrary& hostile, const std::string& path) {
  namespace fs = std::filesystem;
  fs::remove(path);
  fs::copy_file(std::string(BERTH_LOADER_VARIANTS "/lib") + hostile.variant + ".so", path);
  chmod(path.c_str(), 0755);
  if (hostile.damage) hostile.damage(path);
}

inline std::string ProfileWith(const HostileLibrary& hostile) {
  return std::string(
             "extends = \"default\"\n[[plugins]]\nname = \"test.Variant\"\n"
             "library = \"libhostile.so\"\n") +
         hostile.more;
}

}  // namespace berth::host

#endif  // BERTH_TESTS_INTEGRATION_HOSTILE_LIBRARIES_H_
