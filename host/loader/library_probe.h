// Loads libraries in a child process before this process loads them.
#ifndef BERTH_HOST_LOADER_LIBRARY_PROBE_H_
#define BERTH_HOST_LOADER_LIBRARY_PROBE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/base/status.h"
#include "host/base/time_units.h"
#include "host/loader/load_error.h"
#include "host/loader/plugin_library.h"

namespace berth::host {

// Finds libraries that end or block the process that loads them: by a static constructor that
// crashes, hangs or calls exit(), or by an entry with an invalid pointer. Such a library would end
// the host, which no check before loading can prevent.
//
// A probe runs the constructors of each library once in a child process. The text that they print
// goes to standard error. Each later load in this process runs them again.
//
// Threading: the process may have other threads; see RunInChild() for what a child of such a
//            process can use. A library that is loaded while another thread of this process loads a
//            library may appear to hang, because the child has a half-updated list of libraries.
//            The host loads libraries on one thread; only a plugin's thread could do that.
class LibraryProbe {
 public:
  using Source = PluginLibrary::Source;

  // How long loading may take: one library, or all libraries that share a child process.
  static constexpr int64_t kLimitNs = 10 * kSecond;

  // `steady_ns` must only go forward.
  explicit LibraryProbe(std::function<int64_t()> steady_ns) : steady_ns_(std::move(steady_ns)) {}

  // Loads the libraries in this order in one child process. If that process ends early, another
  // child loads the library in question alone, and a third child loads the rest. Returns for each
  // library the error kProbeFailed without a path, or nullopt if the library can be loaded. A
  // library that Open() rejects is no error: Open() reports that in this process too.
  // Errors: Unavailable if a child process could not be created.
  Result<std::vector<std::optional<LoadError>>> Run(std::span<const Source> libraries) const;

 private:
  // The end of a child process that loaded libraries.
  struct ChildEnd {
    size_t loaded = 0;  // How many libraries were loaded before the process ended.
    bool is_late = false;
    std::string problem = {};  // A sentence about the next library; empty if all were loaded.
  };
  Result<ChildEnd> LoadInChild(std::span<const Source> libraries) const;

  std::function<int64_t()> steady_ns_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_LIBRARY_PROBE_H_
