// The only header that a plugin includes. A plugin is a class with ordinary methods named after the
// extension points.
//
//   // Rejects nodes that would be left with less cpu than required.
//   class NodeHeadroom : public berth::Plugin {
//    public:
//     static constexpr std::string_view kName = "acme.NodeHeadroom";
//     static constexpr std::string_view kVersion = "1.0.0";
//     static constexpr std::string_view kAbout = "Keeps some cpu free on every node.";
//     static constexpr berth::Reasons kReasons{"Insufficient cpu headroom"};
//     enum Reason : int { kNoHeadroom };
//     using Columns = berth::Columns<berth::AllocCpu, berth::ReqCpu>;
//     using Node = berth::NodeRow<Columns>;
//
//     berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
//       const int64_t free = node[berth::AllocCpu{}] - node[berth::ReqCpu{}];
//       const int64_t wanted = berth::AddAmounts(cycle.pod().request().milli_cpu, 500);
//       return berth::UnschedulableIf(free < wanted, kNoHeadroom);
//     }
//   };
//   BERTH_PLUGIN(NodeHeadroom)
//
// Implementing a method declares the extension point. Each point has a header with the signatures
// and the contract of its methods: filter.h, score.h, reserve.h, ... A method with the right name
// and the wrong signature does not compile.
#ifndef BERTH_PLUGIN_H_
#define BERTH_PLUGIN_H_

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <berth/abi.h>
#include <berth/api.h>
#include <berth/args.h>
#include <berth/args_table.h>
#include <berth/bind.h>
#include <berth/changes.h>
#include <berth/columns.h>
#include <berth/cycle.h>
#include <berth/dependence.h>
#include <berth/done.h>
#include <berth/enqueue_extensions.h>
#include <berth/entity.h>
#include <berth/filter.h>
#include <berth/hand_over.h>
#include <berth/host.h>
#include <berth/http.h>
#include <berth/internal/entry.h>
#include <berth/internal/note.h>
#include <berth/kube_version.h>
#include <berth/nodes.h>
#include <berth/permit.h>
#include <berth/pod.h>
#include <berth/post_bind.h>
#include <berth/post_filter.h>
#include <berth/pre_bind.h>
#include <berth/pre_enqueue.h>
#include <berth/pre_filter.h>
#include <berth/pre_score.h>
#include <berth/queue_sort.h>
#include <berth/reserve.h>
#include <berth/scheduling.h>
#include <berth/score.h>
#include <berth/selectors.h>
#include <berth/services.h>
#include <berth/shared.h>
#include <berth/signer.h>
#include <berth/siphash.h>
#include <berth/span.h>
#include <berth/status.h>
#include <berth/value.h>

namespace berth {

// The constant part of a plugin's reason table. Bit i of a Verdict means reason i.
template <std::size_t N>
struct Reasons {
  static_assert(N <= 64, "kReasons: at most 64 reasons, because a verdict has 64 bits for them");
  std::array<std::string_view, N> texts;
};
template <class... Text>
Reasons(Text...) -> Reasons<sizeof...(Text)>;

// The base of every plugin. Its members are the defaults for what a plugin class does not declare.
// A plugin class must declare kName, kVersion and kAbout, each a std::string_view.
//
// Threading: the constructor and destructor run under [load].
class Plugin {
 public:
  // A plugin is never copied or moved, so that its constructor may register `this`
  // (Objects::Watch).
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  static constexpr Reasons<0> kReasons{};
  // Ids of services that the plugin requires: std::array{BERTH_SERVICE_OBJECTS}.
  static constexpr std::array<const char*, 0> kServices{};
  // Kinds that the host keeps for Host::objects, as "v1/PersistentVolumeClaim". A kind may name
  // several versions: of "resource.k8s.io/v1|v1beta1/ResourceClaim" the host uses the first one
  // that the API server serves. Pods and nodes come with blocks and with OnChange instead.
  static constexpr std::array<const char*, 0> kKinds{};
  // Parts of pods and nodes that the host keeps beside their views, as "Pod:/spec/hostIPC". Read
  // them with Pod::Field and Node::Field, by the path after the colon. A path is a JSON pointer
  // (RFC 6901) into the JSON of the object:
  //   "/spec/hostIPC"            a value.
  //   "/spec/securityContext"    the whole object or array at the path, as one Value.
  //   "/spec/containers/0/image" that of the first container: a segment after an array is the index
  //                              of an element. There is no path to a member of every element:
  //                              name the array, and read it in a loop.
  //   "/metadata/labels/a~1b"    the member "a/b": "~1" stands for "/", and "~0" for "~".
  // A part that the object does not have, or that is null, is absent. Two paths may overlap.
  // The host does not load a plugin with a path whose first two segments name no field of a pod or
  // node, such as "Pod:/spec/hostIpc". It does not check what follows them.
  // "Pod:" and "Node:" declare that the plugin reads or patches whole pods or nodes with Host::api,
  // so that `berth simulate` and `berth replay` can answer.
  static constexpr std::array<const char*, 0> kFields{};
  // Fields of a pod that this plugin handles, as "/spec/tolerations".
  static constexpr std::array<const char*, 0> kPodFields{};
  // True if Bind and PreBind may block: they then run on a thread pool.
  static constexpr bool kBlocksInBind = false;
  // True if OnChange also receives the changes of pods without a node.
  static constexpr bool kPendingChanges = false;

  using Columns = berth::Columns<>;
  using Args = NoArgs;
  // The plugin's state in one pod's cycle. Cycle::Emplace constructs it, usually in PreFilter; the
  // host clones it with its copy constructor, and destroys it when the pod has left the binding
  // cycle. See Cycle::State.
  using State = internal::NoState;
  // The state that PreScore emplaces, for a plugin that has both PreFilter and PreScore.
  using ScoreState = internal::NoScoreState;

 protected:
  Plugin() = default;
  ~Plugin() = default;
};

}  // namespace berth

namespace berth {

// The entry of a library with these plugins, for tests that do not export an entry.
template <class... P>
inline constexpr const berth_entry& kEntryOf = internal::kEntry<BERTH_MIN_HOST_MINOR, P...>;

}  // namespace berth

// BERTH_PLUGINS declares this name again. In a namespace it declares another type.
struct BerthPluginScope;

// Exports the plugins of a library. Use it once per library, at file scope, outside any namespace.
#define BERTH_PLUGINS(...)                                                           \
  struct BerthPluginScope;                                                           \
  static_assert(::std::is_same_v<BerthPluginScope, ::BerthPluginScope>,              \
                "write BERTH_PLUGIN at the end of the file, outside any namespace"); \
  extern "C" {                                                                       \
  constinit const berth_entry berth_entry_v1 =                                       \
      ::berth::internal::kEntry<BERTH_MIN_HOST_MINOR, __VA_ARGS__>;                  \
  }                                                                                  \
  __attribute__((section(BERTH_NOTE_SECTION), used,                                  \
                 aligned(4))) static constexpr auto berth_note_v1 =                  \
      ::berth::internal::MakeNote<BERTH_MIN_HOST_MINOR, __VA_ARGS__>();              \
  static_assert(true, "a semicolon may follow")
#define BERTH_PLUGIN(Class) BERTH_PLUGINS(Class);

// From here on, the use of a member, a struct or an enumerator of <berth/abi.h> that is newer than
// BERTH_OPTIONAL_MINOR is an error: see BERTH_SINCE. The same applies to every other use of
// something deprecated; to exempt a part of a file, enclose it in `#pragma GCC diagnostic push`,
// `warning "-Wdeprecated-declarations"` and `pop`. Nothing changes if BERTH_OPTIONAL_MINOR is the
// version of the header.
#if BERTH_OPTIONAL_MINOR < BERTH_ABI_MINOR
#pragma GCC diagnostic error "-Wdeprecated-declarations"
#endif

#endif  // BERTH_PLUGIN_H_
