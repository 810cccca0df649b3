// Columns: the values that a plugin reads for every node, one array per column. abi.h lists them.
//
//   using Columns = berth::Columns<berth::AllocCpu, berth::Label<"topology.kubernetes.io/zone">>;
//   ... node[berth::AllocCpu{}] ...
#ifndef BERTH_COLUMNS_H_
#define BERTH_COLUMNS_H_

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <berth/abi.h>
#include <berth/internal/text.h>
#include <berth/span.h>

namespace berth {

// Returns a + b, limited to 2^63-1 like the sums in columns, so that a pod with an absurd request
// does not make a sum negative. The calculation has no branch. REQUIRES: a and b are 0 or more.
constexpr int64_t AddAmounts(int64_t a, int64_t b) {
  const auto sum = static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  return sum < 0 ? std::numeric_limits<int64_t>::max() : sum;
}

// A column of plain values: int64_t, uint32_t or uint8_t.
template <class T, internal::Literal kColumn>
struct Column {
  static_assert(
      std::same_as<T, int64_t> || std::same_as<T, uint32_t> || std::same_as<T, uint8_t>,
      "berth::Column<T, \"name\">: T must be int64_t, uint32_t or uint8_t; use "
      "berth::ArrayColumn<Element, \"name\"> for arrays and berth::IdColumn<\"name\"> for ids");
  using Stored = T;
  static constexpr const char* kName = kColumn.text;
  static constexpr uint32_t kType = std::same_as<T, int64_t>    ? BERTH_TYPE_I64
                                    : std::same_as<T, uint32_t> ? BERTH_TYPE_U32
                                                                : BERTH_TYPE_U8;
  static constexpr uint32_t kFlags = 0;
  static T Read(const T& stored) { return stored; }
};

// A column of ids; 0 where the node has none.
template <internal::Literal kColumn>
struct IdColumn {
  using Stored = berth_id;
  static constexpr const char* kName = kColumn.text;
  static constexpr uint32_t kType = BERTH_TYPE_ID;
  static constexpr uint32_t kFlags = 0;
  static berth_id Read(const berth_id& stored) { return stored; }
};

// A column with an array for every node.
template <class Element, internal::Literal kColumn>
struct ArrayColumn {
  using Stored = berth_array;
  static constexpr const char* kName = kColumn.text;
  static constexpr uint32_t kType = BERTH_TYPE_ARRAY;
  static constexpr uint32_t kFlags = 0;
  static Span<const Element> Read(const berth_array& stored) { return Span<const Element>(stored); }
};

struct NodeName : IdColumn<"name"> {};
struct NodeUnschedulable : Column<uint8_t, "unschedulable"> {};
struct AllocCpu : Column<int64_t, "alloc.cpu"> {};                             // milli-cpu
struct AllocMemory : Column<int64_t, "alloc.memory"> {};                       // bytes
struct AllocEphemeralStorage : Column<int64_t, "alloc.ephemeral-storage"> {};  // bytes
struct AllocPods : Column<int64_t, "alloc.pods"> {};
struct ReqCpu : Column<int64_t, "req.cpu"> {};                             // milli-cpu
struct ReqMemory : Column<int64_t, "req.memory"> {};                       // bytes
struct ReqEphemeralStorage : Column<int64_t, "req.ephemeral-storage"> {};  // bytes
struct NonzeroCpu : Column<int64_t, "nonzero.cpu"> {};                     // milli-cpu
struct NonzeroMemory : Column<int64_t, "nonzero.memory"> {};               // bytes
struct PodsCount : Column<int64_t, "pods.count"> {};
struct Taints : ArrayColumn<berth_taint, "taints"> {};
struct TaintsHard : Column<uint32_t, "taints.hard"> {};
struct TaintsSoft : Column<uint32_t, "taints.soft"> {};
struct Images : ArrayColumn<berth_image, "images"> {};
struct Features : ArrayColumn<berth_id, "features"> {};

// The value of the node's label `kKey`.
template <internal::Literal kKey>
struct Label {
  using Stored = berth_id;
  static constexpr const char* kName = internal::kJoined<"label:", kKey>.text;
  static constexpr uint32_t kType = BERTH_TYPE_ID;
  static constexpr uint32_t kFlags = 0;
  static berth_id Read(const berth_id& stored) { return stored; }
};

// The value of the node's annotation `kKey`; empty where the node has none.
template <internal::Literal kKey>
struct Annotation {
  using Stored = berth_str;
  static constexpr const char* kName = internal::kJoined<"annotation:", kKey>.text;
  static constexpr uint32_t kType = BERTH_TYPE_STR;
  static constexpr uint32_t kFlags = 0;
  static std::string_view Read(const berth_str& stored) { return Str(stored); }
};

// The object of kind `kKind`, which the plugin's kKinds must name, that has no namespace and has
// the node's name: NodeObject<"storage.k8s.io/v1/CSINode">. Null where there is none. A change of
// the object is a change of the node.
template <internal::Literal kKind>
struct NodeObject {
  using Stored = const berth_object*;
  static constexpr const char* kName = internal::kJoined<"object:", kKind>.text;
  static constexpr uint32_t kType = BERTH_TYPE_OBJECT;
  static constexpr uint32_t kFlags = 0;
  static const berth_object* Read(const berth_object* const& stored) { return stored; }
};

// The allocatable and the requested amount of a resource, by the resource's name.
template <internal::Literal kResource>
struct Alloc : Column<int64_t, internal::Literal(internal::kJoined<"alloc:", kResource>.text)> {};
template <internal::Literal kResource>
struct Req : Column<int64_t, internal::Literal(internal::kJoined<"req:", kResource>.text)> {};

// The number of uses of a host port by pods on the node: HostPort<"TCP/80">,
// HostPort<"TCP/80/10.0.0.1">.
template <internal::Literal kPort>
struct HostPort : Column<int64_t, internal::Literal(internal::kJoined<"hostport:", kPort>.text)> {};

// A column that the plugin does not require. If the host has no such column, all values are 0, all
// arrays are empty, and Block::Has<> is false.
template <class C>
struct Optional : C {
  static constexpr uint32_t kFlags = C::kFlags | BERTH_COLUMN_OPTIONAL;
};

template <class C>
concept ColumnType = requires(const typename C::Stored& stored) {
  { C::kName } -> std::convertible_to<const char*>;
  { C::kType } -> std::convertible_to<uint32_t>;
  { C::kFlags } -> std::convertible_to<uint32_t>;
  C::Read(stored);
};

// The columns of one plugin, in the order of its blocks.
template <class... C>
struct Columns {
  static constexpr bool kAreColumns = (ColumnType<C> && ...);
  static_assert(kAreColumns,
                "berth::Columns<...>: every argument must be a column such as berth::AllocCpu, "
                "berth::Label<\"key\">, berth::Req<\"example.com/gpu\">, "
                "berth::Column<int64_t, \"name\"> or berth::Optional<...> of one");
  static constexpr std::size_t kCount = sizeof...(C);

  template <class Wanted>
  static constexpr bool kHas = (std::same_as<Wanted, C> || ...);

  // The index of column Wanted, or of Optional<Wanted>, in the list; kCount if it is not in the
  // list.
  template <class Wanted>
  static constexpr std::size_t kIndex = [] {
    std::size_t index = 0;
    const bool found =
        ((std::same_as<Wanted, C> || std::same_as<Optional<Wanted>, C> ? true : (++index, false)) ||
         ...);
    return found ? index : kCount;
  }();

  static constexpr std::array<berth_column_request, kCount> kRequests = {
      berth_column_request{sizeof(berth_column_request), C::kFlags, C::kName, C::kType, 0}...};
  static constexpr std::array<uint32_t, kCount> kStrides = {
      uint32_t{sizeof(typename C::Stored)}...};
};

}  // namespace berth

#endif  // BERTH_COLUMNS_H_
