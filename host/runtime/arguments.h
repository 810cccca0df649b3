// A plugin's arguments: the tree that the service berth.args/1 reads.
#ifndef BERTH_HOST_RUNTIME_ARGUMENTS_H_
#define BERTH_HOST_RUNTIME_ARGUMENTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <berth/abi.h>

// One value of the tree. Opaque to plugins, hence outside our namespace.
struct berth_value {
  using Array = std::vector<std::unique_ptr<berth_value>>;
  using Object = std::vector<std::pair<std::string, std::unique_ptr<berth_value>>>;

  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value;
  std::string where;  // "profiles/default.toml:12"; empty when it is not from a file.
};

namespace berth::host {

// The tree of a JSON document; every value carries `where`. A whole number beyond 2^63-1 becomes
// FLOAT.
std::unique_ptr<berth_value> ArgumentsFromJson(const nlohmann::json& json,
                                               const std::string& where);

// The service. Constant data.
const berth_args* ArgumentsService();

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ARGUMENTS_H_
