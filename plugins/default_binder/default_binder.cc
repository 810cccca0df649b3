// Binds a pod to its node through the API server.
// kube-scheduler: pkg/scheduler/framework/plugins/defaultbinder/default_binder.go
#include <array>
#include <string_view>

#include <berth/plugin.h>

namespace {

class DefaultBinder : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "DefaultBinder";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Binds pods with the API server's binding subresource.";
  static constexpr std::array kServices{BERTH_SERVICE_API, BERTH_SERVICE_COMPLETION};

  explicit DefaultBinder(const berth::Host& host) : api_(host.api()) {}

  // Returns Pending: the host completes `done` when the API server answers.
  berth::Status Bind(const berth::Binding& binding, berth::Done& done) {
    return api_.Bind(binding, done);
  }

 private:
  const berth::Api api_;
};

}  // namespace

BERTH_PLUGIN(DefaultBinder)
