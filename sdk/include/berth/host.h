// Host: what the host does for a plugin.
//
// A value to be copied and kept by the plugin; it lives as long as the instance. Services that the
// plugin named in kServices are there; of the others, ask: if (host.timer()) ...
#ifndef BERTH_HOST_H_
#define BERTH_HOST_H_

#include <string_view>

#include <berth/abi.h>
#include <berth/api.h>
#include <berth/internal/services.h>
#include <berth/scheduling.h>
#include <berth/services.h>
#include <berth/span.h>

namespace berth {

class Host {
 public:
  explicit Host(const internal::Services& services) : services_(&services) {}

  std::string_view name() const { return Str(services_->host->name); }
  std::string_view version() const { return Str(services_->host->version); }

  // The id of `text`, owned by the instance from now on; 0 where there is no berth.strings/1.
  // Threading: [any].
  berth_id Intern(std::string_view text) const {
    const berth_strings* strings = services_->strings;
    return strings == nullptr ? BERTH_ID_NONE : strings->intern(services_->host, Str(text));
  }
  // The id of `text` if it has one now, or 0. Not owned: valid within this call from the host.
  berth_id Find(std::string_view text) const {
    const berth_strings* strings = services_->strings;
    return strings == nullptr ? BERTH_ID_NONE : strings->find(services_->host, Str(text));
  }
  // The text of an id. Lifetime: the id's.
  std::string_view Text(berth_id id) const {
    const berth_strings* strings = services_->strings;
    return strings == nullptr ? std::string_view() : Str(strings->text(services_->host, id));
  }

  Log log() const { return Log(*services_); }
  Metrics metrics() const { return Metrics(*services_); }
  Objects objects() const { return Objects(*services_); }
  WhatIf what_if() const { return WhatIf(*services_); }
  Nominator nominator() const { return Nominator(*services_); }
  Activate activate() const { return Activate(*services_); }
  Waiting waiting() const { return Waiting(*services_); }
  Timers timers() const { return Timers(*services_); }
  Api api() const { return Api(*services_); }

  const internal::Services& services() const { return *services_; }

 private:
  const internal::Services* services_;
};

}  // namespace berth

#endif  // BERTH_HOST_H_
