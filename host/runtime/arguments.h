// A plugin's arguments: a tree for the service berth.values/1 whose values say where they stand.
#ifndef BERTH_HOST_RUNTIME_ARGUMENTS_H_
#define BERTH_HOST_RUNTIME_ARGUMENTS_H_

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <berth/abi.h>

#include "host/api/arena.h"
#include "host/api/value.h"

namespace berth::host {

class Arguments {
 public:
  // The tree of a JSON document; every value carries `where`, "profiles/default.toml:12", which may
  // be empty. Members that are null are absent. A whole number beyond 2^63-1 becomes FLOAT.
  Arguments(const nlohmann::json& json, std::string_view where);

  // Null where there are none at all: the document is null.
  const berth_value* root() const { return root_; }

 private:
  Arena arena_;
  const berth_value* root_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ARGUMENTS_H_
