// A plugin's arguments, as values of the service berth.values/1 with their places in the profile.
#ifndef BERTH_HOST_PLAN_ARGUMENTS_H_
#define BERTH_HOST_PLAN_ARGUMENTS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <berth/abi.h>

#include "host/api/value.h"
#include "host/base/arena.h"

namespace berth::host {

// The places of the parts of a document ("profiles/default.toml:12"), by JSON pointer.
using ArgumentPlaces = std::map<std::string, std::string, std::less<>>;

class Arguments {
 public:
  // Converts a JSON document. Every value carries its place, or that of the nearest part above it
  // that has one, or `where`, which may be empty. Members that are null are left out. An integer
  // beyond 2^63-1 becomes FLOAT.
  Arguments(const nlohmann::json& json, std::string_view where, const ArgumentPlaces& places = {});

  // Returns null if there are no arguments, that is, if the document is null.
  const berth_value* root() const { return root_; }

 private:
  Arena arena_;
  const berth_value* root_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PLAN_ARGUMENTS_H_
