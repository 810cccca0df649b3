#include "host/cluster/kubernetes/access/discovery.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/assert.h"
#include "host/base/hash.h"
#include "host/cluster/json_body.h"
#include "host/cluster/kubernetes/answers/api_error.h"

namespace berth::host {
namespace {

std::optional<Resource> ReadResource(const nlohmann::ordered_json& json,
                                     const std::string& group_version) {
  if (!json.is_object()) return std::nullopt;
  Resource resource;
  resource.plural = TextMember(json, "name");
  const std::string kind = TextMember(json, "kind");
  const bool is_subresource = resource.plural.find('/') != std::string::npos;
  if (resource.plural.empty() || kind.empty() || is_subresource) return std::nullopt;
  const size_t slash = group_version.find('/');
  if (slash != std::string::npos) resource.group = group_version.substr(0, slash);
  resource.group_version = group_version;
  resource.kind = group_version + "/" + kind;
  if (const auto at = json.find("namespaced"); at != json.end() && at->is_boolean()) {
    resource.is_namespaced = at->get<bool>();
  }
  if (const auto at = json.find("verbs"); at != json.end() && at->is_array()) {
    for (const nlohmann::ordered_json& verb : *at) {
      if (verb.is_string()) resource.verbs.push_back(verb.get<std::string>());
    }
  }
  return resource;
}

}  // namespace

// ---- Paths --------------------------------------------------------------------------------------

std::string_view GroupVersionOf(std::string_view kind) {
  const size_t slash = kind.rfind('/');
  return slash == kind.npos ? std::string_view() : kind.substr(0, slash);
}

std::string GroupVersionPath(std::string_view group_version) {
  const bool is_core = group_version.find('/') == group_version.npos;
  return std::string(is_core ? "/api/" : "/apis/").append(group_version);
}

std::string Resource::CollectionPath() const {
  return GroupVersionPath(group_version) + "/" + plural;
}

bool Resource::CanWatch() const {
  const auto has = [this](std::string_view verb) {
    return std::ranges::find(verbs, verb) != verbs.end();
  };
  return has("list") && has("watch");
}

Result<std::vector<Resource>> ReadResourceList(std::string_view body) {
  const Result<nlohmann::ordered_json> list = ParseBody(body);
  if (!list.ok() || TextMember(*list, "kind") != "APIResourceList") {
    return Status::InvalidArgument("expected an APIResourceList, found other text");
  }
  const std::string group_version = TextMember(*list, "groupVersion");
  const auto resources = list->find("resources");
  if (group_version.empty() || resources == list->end() || !resources->is_array()) {
    return Status::InvalidArgument(
        "expected an APIResourceList with groupVersion and resources, found one without them");
  }
  std::vector<Resource> result;
  for (const nlohmann::ordered_json& json : *resources) {
    std::optional<Resource> resource = ReadResource(json, group_version);
    if (resource) result.push_back(*std::move(resource));
  }
  return result;
}

Result<std::vector<Resource>> ResourcesIn(const HttpResponse& response) {
  if (response.status.ok() && response.head.http_status == 404) return std::vector<Resource>();
  if (Status status = StatusOf(response); !status.ok()) return status;
  return ReadResourceList(response.body);
}

// ---- Discovery ----------------------------------------------------------------------------------

struct Discovery::Follower {
  std::string kind;
  Listener listener;
  bool is_told = false;
  std::optional<Resource> told = {};  // The last report; nullopt: the kind is not served.
};

struct Discovery::GroupVersion {
  GroupVersion(std::string its_name, Executor& executor, uint64_t seed)
      : name(std::move(its_name)), delay({}, seed), timer(executor) {}

  const Resource* Find(std::string_view kind) const {
    const auto at = std::ranges::find(resources, kind, &Resource::kind);
    return at == resources.end() ? nullptr : &*at;
  }
  bool is_missing_any() const {
    return std::ranges::any_of(
        followers, [this](const auto& follower) { return Find(follower.second.kind) == nullptr; });
  }

  const std::string name;
  std::map<ListenerId, Follower> followers;
  std::vector<Resource> resources;
  bool is_known = false;   // The server has answered.
  bool is_asking = false;  // A request is under way.
  Status error;
  RetryDelay delay;
  OwnedTimer timer;
};

Discovery::Discovery(Transport& transport, Executor& executor, uint64_t seed, Log log)
    : transport_(transport), executor_(executor), seed_(seed), log_(log) {}

Discovery::~Discovery() { *alive_ = false; }

Discovery::GroupVersion& Discovery::At(std::string_view kind) {
  const std::string_view name = GroupVersionOf(kind);
  BERTH_ASSERT(!name.empty());
  auto at = group_versions_.find(name);
  if (at == group_versions_.end()) {
    auto group_version =
        std::make_unique<GroupVersion>(std::string(name), executor_, seed_ ^ HashBytes(name));
    at = group_versions_.emplace(std::string(name), std::move(group_version)).first;
  }
  return *at->second;
}

Discovery::ListenerId Discovery::Follow(std::string_view kind, Listener listener) {
  GroupVersion& group_version = At(kind);
  group_version.followers.emplace(++last_, Follower{std::string(kind), std::move(listener)});
  // Without a timer the last answer may be old.
  const bool is_current = group_version.is_known && group_version.timer.is_running();
  if (!is_current) {
    Ask(group_version);
    return last_;
  }
  if (group_version.Find(kind) == nullptr) AskLater(group_version, kRefreshMissingNs);
  executor_.Post([this, alive = alive_, &group_version] {
    if (*alive) Tell(group_version);
  });
  return last_;
}

void Discovery::Unfollow(ListenerId listener) {
  for (const auto& [name, group_version] : group_versions_) {
    if (group_version->followers.erase(listener) == 0) continue;
    if (group_version->followers.empty()) group_version->timer.Stop();
    return;
  }
}

void Discovery::OnNotFound(std::string_view kind) { Ask(At(kind)); }

Status Discovery::LastError(std::string_view kind) const {
  const auto at = group_versions_.find(GroupVersionOf(kind));
  return at == group_versions_.end() ? Status() : at->second->error;
}

void Discovery::Ask(GroupVersion& group_version) {
  if (group_version.is_asking) return;
  group_version.is_asking = true;
  group_version.timer.Stop();
  transport_.Send({.verb = "GET", .target = GroupVersionPath(group_version.name)},
                  [this, alive = alive_, name = group_version.name](const HttpResponse& response) {
                    if (*alive) OnAnswer(name, response);
                  });
}

void Discovery::OnAnswer(const std::string& name, const HttpResponse& response) {
  GroupVersion& group_version = *group_versions_.find(name)->second;
  group_version.is_asking = false;
  Result<std::vector<Resource>> resources = ResourcesIn(response);
  if (!resources.ok()) {
    if (!(group_version.error == resources.status())) {
      log_.Error("Cannot find out what the server serves", resources.status().message(),
                 {{"groupVersion", name}});
    }
    group_version.error = std::move(resources).status();
    const int64_t delay_ns =
        group_version.delay.NextNs(executor_.NowNs(), response.head.retry_after_ns);
    return AskLater(group_version, delay_ns);
  }
  group_version.error = {};
  group_version.is_known = true;
  group_version.resources = std::move(resources).value();
  AskLater(group_version, group_version.is_missing_any() ? kRefreshMissingNs : kRefreshNs);
  Tell(group_version);
}

void Discovery::AskLater(GroupVersion& group_version, int64_t delay_ns) {
  if (group_version.followers.empty()) return;
  group_version.timer.StartAfter(delay_ns, [this, &group_version] { Ask(group_version); });
}

void Discovery::Tell(GroupVersion& group_version) {
  // A listener may add and remove listeners.
  std::vector<ListenerId> ids;
  for (const auto& [id, follower] : group_version.followers) ids.push_back(id);
  for (const ListenerId id : ids) {
    const auto at = group_version.followers.find(id);
    if (at == group_version.followers.end()) continue;
    Follower& follower = at->second;
    const Resource* found = group_version.Find(follower.kind);
    const std::optional<Resource> now = found == nullptr ? std::nullopt : std::optional(*found);
    if (follower.is_told && follower.told == now) continue;
    follower.is_told = true;
    follower.told = now;
    const Listener listener = follower.listener;
    listener(now ? &*now : nullptr);
  }
}

}  // namespace berth::host
