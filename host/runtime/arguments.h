// A plugin's arguments: a tree for the service berth.values/1 whose values say where they stand.
#ifndef BERTH_HOST_RUNTIME_ARGUMENTS_H_
#define BERTH_HOST_RUNTIME_ARGUMENTS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <berth/abi.h>

#include "host/api/value.h"
#include "host/base/arena.h"

namespace berth::host {

// Where parts of a document were said, by their JSON pointers: "profiles/default.toml:12".
using ArgumentPlaces = std::map<std::string, std::string, std::less<>>;

class Arguments {
 public:
  // The tree of a JSON document. Every value carries its place, or that of the nearest part above
  // it that has one, or `where`, which may be empty. Members that are null are absent. A whole
  // number beyond 2^63-1 becomes FLOAT.
  Arguments(const nlohmann::json& json, std::string_view where, const ArgumentPlaces& places = {});

  // Null where there are none at all: the document is null.
  const berth_value* root() const { return root_; }

 private:
  Arena arena_;
  const berth_value* root_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ARGUMENTS_H_
