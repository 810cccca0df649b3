// Reads the objects of a kubeconfig file and collects what is wrong with them. Used only by
// kubeconfig.cc.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_ENTRY_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "host/base/status.h"

namespace berth::host {

// A position in one of the files.
struct KubeconfigPlace {
  size_t file = 0;
  std::string pointer;  // The JSON pointer of the value.
  std::string key;      // The value as messages name it: "clusters[0].cluster.server".

  friend bool operator==(const KubeconfigPlace&, const KubeconfigPlace&) = default;
};

// Collects errors and warnings, so that one error does not hide the next.
class KubeconfigProblems {
 public:
  struct Problem {
    KubeconfigPlace place;
    std::string text;
  };

  void Fail(KubeconfigPlace place, std::string text) {
    errors_.push_back({std::move(place), std::move(text)});
  }
  void Warn(KubeconfigPlace place, std::string text) {
    warnings_.push_back({std::move(place), std::move(text)});
  }
  const std::vector<Problem>& errors() const { return errors_; }
  const std::vector<Problem>& warnings() const { return warnings_; }

 private:
  std::vector<Problem> errors_;
  std::vector<Problem> warnings_;
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
    problems_->Fail(PlaceOf(key), std::move(text));
  }
  void Warn(const std::string& key, std::string text) const {
    problems_->Warn(PlaceOf(key), std::move(text));
  }
  // Warns of every key that is not in `known`.
  void WarnOfOtherKeys(std::initializer_list<std::string_view> known) const;

 private:
  const nlohmann::ordered_json* Find(const char* key) const;
  void FailType(const KubeconfigPlace& place, std::string_view expected,
                const nlohmann::ordered_json& found) const;

  const nlohmann::ordered_json* json_;
  KubeconfigPlace place_;
  KubeconfigProblems* problems_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_ENTRY_H_
