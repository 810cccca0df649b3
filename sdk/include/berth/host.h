// Host: the host's services for a plugin.
//
// A plugin may copy and keep this value; it is valid as long as the instance. The services that the
// plugin named in kServices are always available. Test the others before use: if (host.timers())
// ...
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

  // Returns the id of `text`, which the instance owns from now on; 0 if the host has no
  // berth.strings/1. Threading: [any].
  berth_id Intern(std::string_view text) const {
    const berth_strings* strings = services_->strings;
    return strings == nullptr ? BERTH_ID_NONE : strings->intern(services_->host, Str(text));
  }
  // Returns the id that `text` has now, or 0 if it has none. The id is not owned: it is valid until
  // the current call from the host returns.
  berth_id Find(std::string_view text) const {
    const berth_strings* strings = services_->strings;
    return strings == nullptr ? BERTH_ID_NONE : strings->find(services_->host, Str(text));
  }
  // Returns the text of an id. Lifetime: that of the id.
  std::string_view Text(berth_id id) const {
    const berth_strings* strings = services_->strings;
    return strings == nullptr ? std::string_view() : Str(strings->text(services_->host, id));
  }

  Log log() const { return Log(*services_); }
  Metrics metrics() const { return Metrics(*services_); }
  Objects objects() const { return Objects(*services_); }
  Values values() const { return Values(*services_); }
  Selectors selectors() const { return Selectors(*services_); }
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
