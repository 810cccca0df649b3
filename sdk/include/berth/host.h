// Host: the host's services for a plugin.
//
// A plugin may copy and keep this value; it is valid as long as the instance. The services that the
// plugin named in kServices are always available. Test the others before use: if (host.timers())
// ... A call of a service that the host does not serve throws an Error that names it.
#ifndef BERTH_HOST_H_
#define BERTH_HOST_H_

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <berth/abi.h>
#include <berth/api.h>
#include <berth/http.h>
#include <berth/internal/services.h>
#include <berth/kube_version.h>
#include <berth/scheduling.h>
#include <berth/services.h>
#include <berth/shared.h>
#include <berth/signer.h>
#include <berth/siphash.h>
#include <berth/span.h>

namespace berth {

class Host {
 public:
  explicit Host(const internal::Services& services) : services_(&services) {}

  std::string_view name() const { return Str(services_->host->name); }
  std::string_view version() const { return Str(services_->host->version); }

  // The profile that the instance belongs to.
  std::string_view profile() const { return services_->terms.profile; }
  // Returns whether the host calls the plugin at this extension point, which the profile may leave
  // out: if (!host.Enables(BERTH_POINT_PRE_FILTER)) throw berth::Error("needs PreFilter").
  bool Enables(std::string_view point) const {
    const auto& points = services_->terms.points;
    return std::find(points.begin(), points.end(), point) != points.end();
  }
  // How long a call may take, as the profile sets it for this plugin; 0 if the profile does not.
  int64_t deadline_ns() const { return services_->terms.deadline_ns; }
  // The version of Kubernetes whose kube-scheduler the host decides as.
  KubeVersion emulated_version() const { return services_->terms.emulated_version; }

  // Returns the id of `text`, which the instance holds from now on: until Release() was called as
  // often as Intern() returned it, or until the instance is destroyed. InternHeld()
  // returns a handle that releases it. Threading: [any].
  berth_id Intern(std::string_view text) const {
    return services_->strings->intern(services_->host, Str(text));
  }
  // Returns the id of `text` in a handle that releases it. Threading: [any].
  InternedId InternHeld(std::string_view text) const { return {*services_, text}; }
  // Undoes one call of Intern() that returned this id. Threading: [any].
  void Release(berth_id id) const { services_->strings->release(services_->host, id); }
  // Returns the id that `text` has now, or 0 if it has none. The id is not owned: it is valid until
  // the current call from the host returns. On a thread of the plugin's own, use Intern() instead.
  berth_id Find(std::string_view text) const {
    return services_->strings->find(services_->host, Str(text));
  }
  // Returns the text of an id; empty for 0 and for an unknown id. Lifetime: that of the id.
  std::string_view Text(berth_id id) const {
    return Str(services_->strings->text(services_->host, id));
  }

  // Returns the random key of this process for hashes of data that others choose.
  HashKey hash_key() const { return {services_->host->hash_key[0], services_->host->hash_key[1]}; }
  Signer NewSigner() const { return Signer(hash_key()); }

  // Keeps a pod, node or object longer than what passed it: one that the host passed in this call,
  // one that an index still has from an earlier change (changes.h), or one that the instance
  // retains. Throws an Error if it is no object of the host, such as a copy.
  // Threading: [any].
  Ref<berth_pod> Retain(const berth_pod& pod) const { return {*services_, pod}; }
  Ref<berth_node> Retain(const berth_node& node) const { return {*services_, node}; }
  Ref<berth_object> Retain(const berth_object& object) const { return {*services_, object}; }

  Log log() const { return Log(*services_); }
  Metrics metrics() const { return Metrics(*services_); }
  Objects objects() const { return Objects(*services_); }
  Values values() const { return Values(*services_); }
  Selectors selectors() const { return Selectors(*services_); }
  NodeLookup nodes() const { return NodeLookup(*services_); }
  WhatIf what_if() const { return WhatIf(*services_); }
  Nominator nominator() const { return Nominator(*services_); }
  Activate activate() const { return Activate(*services_); }
  Waiting waiting() const { return Waiting(*services_); }
  Timers timers() const { return Timers(*services_); }
  Random random() const { return Random(*services_); }
  Shared shared() const { return Shared(*services_); }
  Api api() const { return Api(*services_); }
  Http http() const { return Http(*services_); }

  const internal::Services& services() const { return *services_; }

 private:
  const internal::Services* services_;
};

}  // namespace berth

#endif  // BERTH_HOST_H_
