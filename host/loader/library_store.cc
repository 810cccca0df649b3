#include "host/loader/library_store.h"

#include <strings.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include <openssl/evp.h>

#include "host/base/assert.h"
#include "host/base/child_process.h"

namespace berth::host {
namespace {

LoadError WithPath(const std::string& path, LoadError error) {
  error.path = path;
  return error;
}

// ---- The probe ----------------------------------------------------------------------------------

// The child writes this after it has loaded a library.
constexpr std::string_view kLoaded = "+";

LoadError ProbeError(std::string text) {
  return MakeLoadError(LoadErrorCode::kProbeFailed, "", std::move(text));
}

std::string ProblemOf(const ChildResult& end) {
  if (end.is_late) {
    return "the library has not finished loading after " + std::to_string(kProbeLimitNs / kSecond) +
           " s";
  }
  if (WIFSIGNALED(end.status)) {
    return "the library ends the process with " + SignalText(WTERMSIG(end.status)) +
           " while it is loaded";
  }
  return "the library ends the process with status " + std::to_string(WEXITSTATUS(end.status)) +
         " while it is loaded";
}

// The end of a child process that loaded libraries.
struct ChildEnd {
  size_t loaded = 0;  // How many libraries were loaded before the process ended.
  bool is_late = false;
  std::string problem = {};  // A sentence about the next library; empty if all were loaded.
};

Result<ChildEnd> LoadInChild(std::span<const PluginLibrary::Source> libraries,
                             const std::function<int64_t()>& steady_ns) {
  const auto end = RunInChild(
      [libraries](int pipe) {
        for (const PluginLibrary::Source& library : libraries) {
          // The process keeps a rejected library too, as the host would.
          static_cast<void>(PluginLibrary::Open(library));
          WriteToParent(pipe, kLoaded);
        }
      },
      kProbeLimitNs, steady_ns);
  if (!end.ok()) return end.status();
  ChildEnd outcome{.loaded = std::min(end->text.size(), libraries.size()), .is_late = end->is_late};
  const bool is_done = !end->is_late && end->status == 0 && outcome.loaded == libraries.size();
  if (is_done) return outcome;
  // A thread of the last library can end the process after all were loaded.
  outcome.loaded = std::min(outcome.loaded, libraries.size() - 1);
  outcome.problem = ProblemOf(*end);
  return outcome;
}

}  // namespace

Result<std::vector<std::optional<LoadError>>> ProbeLibraries(
    std::span<const PluginLibrary::Source> libraries, const std::function<int64_t()>& steady_ns) {
  std::vector<std::optional<LoadError>> errors(libraries.size());
  for (size_t next = 0; next < libraries.size();) {
    const auto together = LoadInChild(libraries.subspan(next), steady_ns);
    if (!together.ok()) return together.status();
    if (together->problem.empty()) break;
    const size_t at = next + together->loaded;
    next = at + 1;
    if (together->loaded == 0) {
      errors[at] = ProbeError(together->problem);
      continue;
    }
    const auto alone = LoadInChild(libraries.subspan(at, 1), steady_ns);
    if (!alone.ok()) return alone.status();
    if (!alone->problem.empty()) {
      errors[at] = ProbeError(alone->problem);
    } else if (!together->is_late) {  // All libraries of the child have used up the time.
      errors[at] = ProbeError(together->problem + " after other libraries (" +
                              std::to_string(together->loaded) + "), but not when it is the first");
    }
  }
  return errors;
}

// ---- The store ----------------------------------------------------------------------------------

std::string Sha256Hex(std::span<const std::byte> bytes) {
  std::array<uint8_t, 32> digest{};
  const int32_t done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  BERTH_ASSERT_MSG(done == 1, "OpenSSL failed to compute a SHA-256 digest");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

// A library that was read and checked.
struct LibraryStore::Content {
  TrustedFile file;
  std::string digest;
  std::string identity;
  CheckedLibrary checked;
  std::vector<OriginLibrary> origin_libraries;
};

// The libraries that one call of LoadAll() loads.
struct LibraryStore::Batch {
  std::vector<PluginLibrary::Source> sources;  // One for each content that was copied.
  std::map<std::string, LoadError> rejected;   // By identity. The errors have no path.
};

LibraryStore::Loaded LibraryStore::Load(const std::string& path, const LoadOptions& options) {
  return std::move(LoadAll(std::span(&path, 1), options).front());
}

std::vector<LibraryStore::Loaded> LibraryStore::LoadAll(std::span<const std::string> paths,
                                                        const LoadOptions& options) {
  Batch batch;
  std::vector<LoadResult<std::string>> added;
  for (const std::string& path : paths) added.push_back(Add(path, options, batch));
  Probe(batch);
  std::vector<Loaded> results;
  for (size_t i = 0; i < paths.size(); ++i) {
    Loaded library = added[i].ok() ? Open(*added[i], batch) : std::move(added[i]).error();
    if (!library.ok()) library = WithPath(paths[i], std::move(library).error());
    results.push_back(std::move(library));
  }
  return results;
}

LoadResult<std::string> LibraryStore::Add(const std::string& path, const LoadOptions& options,
                                          Batch& batch) {
  LoadResult<Content> content = Read(path, options);
  if (!content.ok()) return std::move(content).error();
  std::string identity = content->identity;
  if (libraries_.contains(identity)) return identity;
  if (std::ranges::find(batch.sources, identity, &PluginLibrary::Source::identity) !=
      batch.sources.end()) {
    return identity;
  }
  if (const auto probed = probed_.find(identity);
      probed != probed_.end() && probed->second.has_value()) {
    batch.rejected.emplace(identity, *probed->second);
    return identity;
  }
  LoadResult<PluginLibrary::Source> source = Copy(path, *std::move(content));
  if (!source.ok()) return std::move(source).error();
  batch.sources.push_back(*std::move(source));
  return identity;
}

void LibraryStore::Probe(Batch& batch) {
  if (!steady_ns_) return;
  std::vector<PluginLibrary::Source> unknown;
  std::ranges::copy_if(batch.sources, std::back_inserter(unknown),
                       [this](const auto& source) { return !probed_.contains(source.identity); });
  if (unknown.empty()) return;
  auto errors = ProbeLibraries(unknown, steady_ns_);
  for (size_t i = 0; i < unknown.size(); ++i) {
    std::optional<LoadError> error =
        errors.ok() ? std::move((*errors)[i])
                    : MakeLoadError(LoadErrorCode::kProbeFailed,
                                    "a child process, which loads the library first",
                                    std::string(errors.status().message()));
    if (error.has_value()) {
      batch.rejected.emplace(unknown[i].identity, *error);
      copies_->Discard(unknown[i].load_path);
    }
    // Without a child process, nothing is known about the library.
    if (errors.ok()) probed_.emplace(unknown[i].identity, std::move(error));
  }
}

LibraryStore::Loaded LibraryStore::Open(const std::string& identity, Batch& batch) {
  if (const auto known = libraries_.find(identity); known != libraries_.end()) return known->second;
  if (const auto rejected = batch.rejected.find(identity); rejected != batch.rejected.end()) {
    return rejected->second;
  }
  const auto source = std::ranges::find(batch.sources, identity, &PluginLibrary::Source::identity);
  BERTH_ASSERT(source != batch.sources.end());
  Loaded library = OpenOnce(*source);
  if (library.ok()) {
    libraries_.emplace(identity, *library);
  } else {
    batch.rejected.emplace(identity, library.error());
  }
  return library;
}

LibraryStore::Loaded LibraryStore::OpenOnce(const PluginLibrary::Source& source) {
  auto conflict = origin_libraries_.FindConflict(source.origin_libraries);
  Loaded library =
      conflict.has_value() ? Loaded(*std::move(conflict)) : PluginLibrary::Open(source);
  // After any other error the library stays mapped, with what it needs.
  const bool is_mapped = library.ok() || library.error().code > LoadErrorCode::kDlopenFailed;
  if (is_mapped) {
    origin_libraries_.AddLoaded(source.origin_libraries);
  } else {
    copies_->Discard(source.load_path);
  }
  return library;
}

LoadResult<PluginLibrary::Source> LibraryStore::Prepare(const std::string& path,
                                                        const LoadOptions& options) {
  LoadResult<Content> content = Read(path, options);
  if (!content.ok()) return std::move(content).error();
  return Copy(path, *std::move(content));
}

LoadResult<LibraryStore::Content> LibraryStore::Read(const std::string& path,
                                                     const LoadOptions& options) const {
  LoadResult<TrustedFile> file = ReadTrustedFile(path, options.trust);
  if (!file.ok()) return WithPath(path, std::move(file).error());
  std::string digest = Sha256Hex(file->bytes);
  if (!options.sha256.empty() && ::strcasecmp(options.sha256.c_str(), digest.c_str()) != 0) {
    return WithPath(path, MakeLoadError(LoadErrorCode::kPinMismatch, "sha256 " + options.sha256,
                                        std::move(digest)));
  }
  LoadResult<CheckedLibrary> checked = CheckLibrary(file->bytes);
  if (!checked.ok()) return WithPath(path, std::move(checked).error());
  Content content{*std::move(file), digest, digest, *std::move(checked), {}};
  if (!content.checked.has_origin) return content;
  auto found = origin_libraries_.Find(content.file, options.trust);
  if (!found.ok()) return WithPath(path, std::move(found).error());
  content.origin_libraries = *std::move(found);
  std::string text = digest + " " + content.file.path;
  for (const OriginLibrary& library : content.origin_libraries) {
    text.append("\n").append(library.digest).append(" ").append(library.path);
  }
  content.identity = Sha256Hex(std::as_bytes(std::span(text)));
  return content;
}

LoadResult<PluginLibrary::Source> LibraryStore::Copy(const std::string& path, Content content) {
  if (content.checked.has_origin) {
    auto relocated = origin_libraries_.Relocate(content.file, content.origin_libraries);
    if (!relocated.ok()) return WithPath(path, std::move(relocated).error());
    content.file.bytes = *std::move(relocated);
  }
  LoadResult<std::string> copy = copies_->Write(content.identity, content.file.bytes);
  if (!copy.ok()) return WithPath(path, std::move(copy).error());
  return PluginLibrary::Source{.path = std::move(content.file.path),
                               .digest = std::move(content.digest),
                               .load_path = *std::move(copy),
                               .checked = std::move(content.checked),
                               .identity = std::move(content.identity),
                               .origin_libraries = std::move(content.origin_libraries)};
}

}  // namespace berth::host
