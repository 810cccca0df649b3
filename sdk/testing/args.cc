#include <initializer_list>
#include <string_view>
#include <utility>

#include <berth/testing/args.h>
#include <berth/testing/values.h>

namespace berth::testing {

Args::Args(std::initializer_list<std::pair<const char*, ValueSpec>> entries)
    : given_(true), value_(ValueSpec::Object()) {
  for (const auto& [key, value] : entries) value_.Set(key, value);
  value_.Locate("args");
}

Args::Args(std::string_view json) : given_(true), value_(internal::ReadJson(json)) {
  value_.Locate("args");
}

}  // namespace berth::testing
