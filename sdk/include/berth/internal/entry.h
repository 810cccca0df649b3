// Builds the exported data of a library from its plugin classes. All of it is constant, so that the
// host can read it before any code of the library runs.
#ifndef BERTH_INTERNAL_ENTRY_H_
#define BERTH_INTERNAL_ENTRY_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include <berth/abi.h>
#include <berth/internal/args_decode.h>
#include <berth/internal/args_schema.h>
#include <berth/internal/check.h>
#include <berth/internal/guard.h>
#include <berth/internal/instance.h>
#include <berth/internal/points.h>
#include <berth/internal/text.h>
#include <berth/span.h>

namespace berth::internal {

template <const auto& kList>
inline constexpr auto kNullTerminated = NullTerminated(kList);

template <class P>
inline constexpr const char* kSchemaOf = [] {
  if constexpr (kHaskArgs<P>) {
    return kArgsSchema<P>.text;
  } else {
    return static_cast<const char*>(nullptr);
  }
}();

template <class P>
inline constexpr berth_plugin_info kInfo = {sizeof(berth_plugin_info),
                                            P::kBlocksInBind ? BERTH_PLUGIN_BLOCKS_IN_BIND : 0,
                                            kTerminated<P::kName>.text,
                                            kTerminated<P::kVersion>.text,
                                            kTerminated<P::kAbout>.text,
                                            PointsOf<P>::kIds.data(),
                                            kNullTerminated<P::kServices>.data(),
                                            kNullTerminated<P::kKinds>.data(),
                                            kNullTerminated<P::kFields>.data(),
                                            kNullTerminated<P::kPodFields>.data(),
                                            kSchemaOf<P>};

template <class P>
berth_code FindServices(const berth_host* host, berth_status* status) {
  berth_code code = BERTH_SUCCESS;
  for (const char* id : P::kServices) {
    const void* service = nullptr;
    if (host->get_service(host, id, &service) == BERTH_SUCCESS) continue;
    AddReason(status, "needs the service " + std::string(id) + ", which this host does not serve");
    code = BERTH_UNSUPPORTED;
  }
  return code;
}

template <class P>
berth_code CreateInstance(const berth_host* host, const berth_instance_request& request,
                          berth_plugin** out, berth_status* status) noexcept {
  return Guard(status, [&]() -> berth_code {
    if (const berth_code code = FindServices<P>(host, status); code != BERTH_SUCCESS) return code;
    typename P::Args decoded{};
    if (!DecodeArgs<P>(Value(request.args), decoded, status)) return BERTH_BAD_ARGUMENT;
    auto instance = std::make_unique<Instance<P>>(host, Terms(request), decoded);
    *out = instance.release()->abi();
    return BERTH_SUCCESS;
  });
}

template <class... P>
struct Library {
  static constexpr std::array<const berth_plugin_info*, sizeof...(P)> kPlugins = {&kInfo<P>...};

  static berth_code Create(const berth_host* host, const berth_instance_request* request,
                           berth_plugin** out, berth_status* status) noexcept {
    berth_code code = BERTH_NOT_FOUND;
    (TryCreate<P>(host, *request, out, status, code), ...);
    return code;
  }

 private:
  template <class Q>
  static void TryCreate(const berth_host* host, const berth_instance_request& request,
                        berth_plugin** out, berth_status* status, berth_code& code) {
    if (Str(request.name) == Q::kName) code = CreateInstance<Q>(host, request, out, status);
  }
};

constexpr uint64_t BuildFlags() {
  uint64_t flags = 0;
#if !defined(NDEBUG)
  flags |= BERTH_BUILD_ASSERTS;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  flags |= BERTH_BUILD_SANITIZED;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  flags |= BERTH_BUILD_SANITIZED;
#endif
#endif
  return flags;
}

template <uint16_t kMinHostMinor, class... P>
constexpr berth_entry MakeEntry() {
  static_assert(sizeof...(P) > 0, "BERTH_PLUGINS requires at least one class");
  if constexpr ((CheckPlugin<P>() && ...)) {
    return {BERTH_MAGIC,
            sizeof(berth_entry),
            BERTH_ABI_MAJOR,
            BERTH_ABI_MINOR,
            kMinHostMinor,
            64,
            BuildFlags(),
            sizeof...(P),
            Library<P...>::kPlugins.data(),
            nullptr,
            nullptr,
            &Library<P...>::Create,
            BERTH_ABI_DRAFT};
  } else {
    return {};
  }
}

template <uint16_t kMinHostMinor, class... P>
inline constexpr berth_entry kEntry = MakeEntry<kMinHostMinor, P...>();

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_ENTRY_H_
