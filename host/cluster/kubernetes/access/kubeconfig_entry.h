// Reads the objects of a kubeconfig file, its users among them, and collects what is wrong with
// them. Used only by kubeconfig.cc.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_ENTRY_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_ENTRY_H_

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "host/cluster/kubernetes/access/kubeconfig.h"

namespace berth::host {

// A position in one of the files.
struct KubeconfigPlace {
  size_t file = 0;
  std::string pointer;  // The JSON pointer of the value.
  std::string key;      // The value as messages name it: "clusters[0].cluster.server".

  friend bool operator==(const KubeconfigPlace&, const KubeconfigPlace&) = default;
};

// All errors and warnings, so that one error does not hide the next.
struct KubeconfigProblems {
  struct Problem {
    KubeconfigPlace place;
    std::string text;
  };

  std::vector<Problem> errors;
  std::vector<Problem> warnings;
};

// An object of a kubeconfig file. Each method that reads a member returns an empty value if the
// member is absent or null, and also if it has another type, which is an error. No error contains
// the value, which may be secret.
// Lifetime: the JSON value and the problems must outlive it.
class KubeconfigEntry {
 public:
  // REQUIRES: json.is_object().
  KubeconfigEntry(const nlohmann::ordered_json& json, KubeconfigPlace place,
                  KubeconfigProblems& problems)
      : json_(&json), place_(std::move(place)), problems_(&problems) {}

  std::string String(const char* key) const;
  bool Bool(const char* key) const;
  std::string Base64(const char* key) const;  // Returns the bytes.
  std::vector<std::string> Strings(const char* key) const;
  std::optional<KubeconfigEntry> Object(const char* key) const;
  std::vector<KubeconfigEntry> Objects(const char* key) const;  // A list.
  std::vector<std::string> Keys() const;

  const KubeconfigPlace& place() const { return place_; }
  KubeconfigPlace PlaceOf(const std::string& key) const;
  void Fail(const std::string& key, std::string text) const {
    problems_->errors.push_back({PlaceOf(key), std::move(text)});
  }
  void Warn(const std::string& key, std::string text) const {
    problems_->warnings.push_back({PlaceOf(key), std::move(text)});
  }
  // Warns of every key that is not in `known`.
  void WarnOfOtherKeys(std::initializer_list<std::string_view> known) const;

 private:
  // Returns the member if it has the type; null if not, or if it is absent or null.
  const nlohmann::ordered_json* Find(const char* key,
                                     bool (nlohmann::ordered_json::*is_type)() const,
                                     std::string_view expected) const;
  void FailType(const KubeconfigPlace& place, std::string_view expected,
                const nlohmann::ordered_json& found) const;

  const nlohmann::ordered_json* json_;
  KubeconfigPlace place_;
  KubeconfigProblems* problems_;
};

// Returns a path of the kubeconfig `file` as a path for this process: relative to the folder of the
// file unless it is absolute. An empty path stays empty.
std::string ResolveKubeconfigPath(const std::string& file, const std::string& path);

// Returns what the object `user` of the file at `path` contains. Adds what is wrong to the problems
// of the entry. (client-go: tools/clientcmd/validation.go, validateAuthInfo)
AuthConfig ReadKubeconfigUser(const KubeconfigEntry& entry, const std::string& path);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_ENTRY_H_
