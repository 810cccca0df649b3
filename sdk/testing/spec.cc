#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/spec.h>

namespace berth::testing {

RequirementSpec In(std::string key, std::vector<std::string> values) {
  return {std::move(key), BERTH_OP_IN, std::move(values), 0};
}

RequirementSpec NotIn(std::string key, std::vector<std::string> values) {
  return {std::move(key), BERTH_OP_NOT_IN, std::move(values), 0};
}

RequirementSpec DoesNotExist(std::string key) {
  return {std::move(key), BERTH_OP_DOES_NOT_EXIST, {}, 0};
}

RequirementSpec Gt(std::string key, int64_t number) {
  return {std::move(key), BERTH_OP_GT, {std::to_string(number)}, number};
}

RequirementSpec Lt(std::string key, int64_t number) {
  return {std::move(key), BERTH_OP_LT, {std::to_string(number)}, number};
}

}  // namespace berth::testing
