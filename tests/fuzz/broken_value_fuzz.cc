// Fuzzes the decoding of pods and nodes of which one value cannot be read: it counts as absent, so
// that no other value is lost, and a node never seems to have more room.
//
// An input is two bytes, which choose the value that is replaced, and then the JSON text of a valid
// pod or node.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/api/decode.h"
#include "host/base/assert.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kReplacements[] = {
    "7",     "-1",   "2.5",     "1e300", "true",           "\"x\"", "\"-1\"",
    "\"m\"", "\"\"", "\"1e9\"", "[]",    "[[],{\"a\":1}]", "{}",    "{\"a\":{\"b\":[1]}}"};

DecodeOptions SkipUnreadable() {
  DecodeOptions options;
  options.skip_unreadable = true;
  return options;
}

// Appends the JSON pointers of all values within `value`. The depth of the text is limited.
void AddPointers(const Json& value, const Json::json_pointer& at,
                 std::vector<Json::json_pointer>* pointers) {
  if (!value.is_structured()) return;
  size_t index = 0;
  for (const auto& [key, part] : value.items()) {
    pointers->push_back(value.is_array() ? at / index++ : at / key);
    AddPointers(part, Json::json_pointer(pointers->back()), pointers);
  }
}

// Returns the amount of a scalar resource; 0 if there is none.
int64_t AmountOf(const berth_resources& resources, Id name) {
  const auto scalars = Elements<berth_quantity>(resources.scalars);
  const auto found = std::ranges::find(scalars, name, &berth_quantity::name);
  return found == scalars.end() ? 0 : found->value;
}

bool IsAtLeast(const berth_resources& large, const berth_resources& small) {
  const auto scalars = Elements<berth_quantity>(small.scalars);
  return large.milli_cpu >= small.milli_cpu && large.memory >= small.memory &&
         large.ephemeral_storage >= small.ephemeral_storage && large.pods >= small.pods &&
         std::ranges::all_of(scalars, [&](const berth_quantity& scalar) {
           return AmountOf(large, scalar.name) >= scalar.value;
         });
}

// Compares an object whose changed value cannot be read with the object without this value.
void CheckRoom(const AnyObject& broken, const AnyObject& without) {
  if (const auto* pod = std::get_if<PodRef>(&broken)) {
    const berth_pod& view = (*pod)->view();
    BERTH_ASSERT(view.node_name != kNoId);
    const auto* other = std::get_if<PodRef>(&without);
    BERTH_ASSERT(other != nullptr);
    BERTH_ASSERT(IsAtLeast(*view.accounted, *(*other)->view().accounted));
    BERTH_ASSERT(IsAtLeast(*view.request, *(*other)->view().request));
    BERTH_ASSERT(view.nonzero_milli_cpu >= (*other)->view().nonzero_milli_cpu);
    BERTH_ASSERT(view.nonzero_memory >= (*other)->view().nonzero_memory);
  } else if (const auto* node = std::get_if<NodeRef>(&broken)) {
    const auto* other = std::get_if<NodeRef>(&without);
    BERTH_ASSERT(other != nullptr);
    BERTH_ASSERT(IsAtLeast(*(*other)->view().allocatable, *(*node)->view().allocatable));
  } else {
    BERTH_ASSERT(false);
  }
}

// Returns `object` without the value at `pointer`.
Json Without(Json object, const Json::json_pointer& pointer) {
  Json& parent = object.at(pointer.parent_pointer());
  if (parent.is_array()) {
    parent.erase(std::stoul(pointer.back()));
  } else {
    parent.erase(pointer.back());
  }
  return object;
}

void CheckReplacement(Decoder& decoder, const Json& object, const Json::json_pointer& pointer,
                      const char* replacement) {
  Json changed = object;
  changed.at(pointer) = Json::parse(replacement);
  const Result<AnyObject> broken = decoder.Decode(changed.dump());
  const Status problems = decoder.problems();
  if (!broken.ok() || problems.ok()) return;
  BERTH_ASSERT_MSG(problems.message().starts_with(pointer.to_string()), "%s",
                   problems.ToString().c_str());
  const Result<AnyObject> without = decoder.Decode(Without(object, pointer).dump());
  BERTH_ASSERT_MSG(without.ok(), "%s", without.status().ToString().c_str());
  CheckRoom(*broken, *without);
}

void Run(std::string_view input) {
  static Interner interner;
  static Decoder decoder(interner, SkipUnreadable());
  if (input.size() < 2) return;
  const size_t choice =
      static_cast<uint8_t>(input[0]) * size_t{256} + static_cast<uint8_t>(input[1]);
  const std::string_view text = input.substr(2);
  if (std::ranges::count_if(text, [](char c) { return c == '[' || c == '{'; }) > 200) return;
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return;
  if (!decoder.Decode(object.dump()).ok()) return;
  if (!decoder.problems().ok()) return;
  std::vector<Json::json_pointer> pointers;
  AddPointers(object, Json::json_pointer(), &pointers);
  const Json::json_pointer& pointer = pointers[choice % pointers.size()];
  for (const char* replacement : kReplacements) {
    CheckReplacement(decoder, object, pointer, replacement);
  }
  decoder.ReleaseIds();
  interner.Sweep();
  BERTH_ASSERT_MSG(interner.size() == 1, "%zu texts", interner.size());
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
