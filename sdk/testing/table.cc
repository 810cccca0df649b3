#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/kinds.h>
#include <berth/testing/ids.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/quantity.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {
namespace {

template <class Get>
int64_t SumOverPods(const Row& row, Get get) {
  int64_t sum = 0;
  for (const PodHandle& pod : row.pods) sum = internal::AddAmounts(sum, get(*pod));
  return sum;
}

std::string CanonicalColumn(std::string_view name) {
  for (const char* prefix : {"alloc", "req"}) {
    for (const char* resource : {"cpu", "memory", "ephemeral-storage", "pods"}) {
      if (name == std::string(prefix) + ":" + resource) return std::string(prefix) + "." + resource;
    }
  }
  return std::string(name);
}

bool HasPrefix(std::string_view text, std::string_view prefix) {
  return text.size() > prefix.size() && text.substr(0, prefix.size()) == prefix;
}

// Reads the amount of one resource.
class AmountReader {
 public:
  AmountReader(std::string_view name, const Ids& ids) : id_(ids.Find(name)) {
    if (name == "cpu") member_ = &berth_resources::milli_cpu;
    if (name == "memory") member_ = &berth_resources::memory;
    if (name == "ephemeral-storage") member_ = &berth_resources::ephemeral_storage;
    if (name == "pods") member_ = &berth_resources::pods;
  }
  int64_t operator()(const berth_resources& resources) const {
    if (member_ != nullptr) return resources.*member_;
    for (uint32_t i = 0; i < resources.scalars.count; ++i) {
      const auto* quantity = BERTH_AT(berth_quantity, resources.scalars, i);
      if (quantity->name == id_) return quantity->value;
    }
    return 0;
  }

 private:
  int64_t berth_resources::*member_ = nullptr;  // NULL: of the scalar `id_`
  berth_id id_;
};

// Returns the number of uses of a port: "TCP/80", or "TCP/80/10.0.0.1".
int64_t PortUses(const berth_pod& pod, std::string_view port, const Ids& ids) {
  constexpr const char* kProtocols[] = {"", "TCP/", "UDP/", "SCTP/"};
  int64_t uses = 0;
  for (uint32_t i = 0; i < pod.host_ports.count; ++i) {
    const auto* used = BERTH_AT(berth_port, pod.host_ports, i);
    if (used->protocol >= std::size(kProtocols)) continue;
    const std::string number = kProtocols[used->protocol] + std::to_string(used->host_port);
    const std::string_view ip = ids.Text(used->host_ip);
    const bool at_all = ip.empty() || ip == "0.0.0.0";
    if (number == port || (at_all && HasPrefix(port, number + "/")) ||
        number + "/" + std::string(ip) == port) {
      ++uses;
    }
  }
  return uses;
}

// Returns a function that reads the value of a column of numbers.
std::function<int64_t(const Row&)> NumberReader(std::string_view name, const Ids& ids) {
  if (HasPrefix(name, "alloc.") || HasPrefix(name, "alloc:")) {
    return [amount = AmountReader(name.substr(6), ids)](const Row& row) {
      return amount(*row.node->allocatable);
    };
  }
  if (HasPrefix(name, "req.") || HasPrefix(name, "req:")) {
    return [amount = AmountReader(name.substr(4), ids)](const Row& row) {
      return SumOverPods(row, [&](const berth_pod& p) { return amount(*p.accounted); });
    };
  }
  if (HasPrefix(name, "hostport:")) {
    return [port = std::string(name.substr(9)), &ids](const Row& row) {
      return SumOverPods(row, [&](const berth_pod& p) { return PortUses(p, port, ids); });
    };
  }
  if (name == "nonzero.cpu") {
    return [](const Row& row) {
      return SumOverPods(row, [](const berth_pod& p) { return p.nonzero_milli_cpu; });
    };
  }
  if (name == "nonzero.memory") {
    return [](const Row& row) {
      return SumOverPods(row, [](const berth_pod& p) { return p.nonzero_memory; });
    };
  }
  return [](const Row& row) { return static_cast<int64_t>(row.pods.size()); };
}

uint32_t CountTaints(const berth_node& node, bool soft) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < node.taints.count; ++i) {
    const bool is_soft =
        BERTH_AT(berth_taint, node.taints, i)->effect == BERTH_EFFECT_PREFER_NO_SCHEDULE;
    if (is_soft == soft) ++count;
  }
  return count;
}

berth_id LabelCell(berth_id id, const berth_node& node) {
  for (uint32_t i = 0; i < node.meta->labels.count; ++i) {
    const auto* label = BERTH_AT(berth_id_pair, node.meta->labels, i);
    if (label->key == id) return label->value;
  }
  return 0;
}

const berth_object* ObjectCell(std::string_view kind, const Row& row, const Table& table) {
  const ObjectHandle* object = FindObject(table.objects, kind, "", row.node.name());
  return object != nullptr ? object->get() : nullptr;
}

berth_str AnnotationCell(std::string_view key, const berth_node& node) {
  for (uint32_t i = 0; i < node.meta->annotations.count; ++i) {
    const auto* pair = BERTH_AT(berth_str_pair, node.meta->annotations, i);
    if (FromAbi(pair->key) == key) return pair->value;
  }
  return {nullptr, 0};
}

}  // namespace

std::string UsedKind(std::string_view declared, const std::set<std::string>& not_served) {
  for (std::string& kind : berth::internal::KindsOf(declared)) {
    if (not_served.count(kind) == 0) return std::move(kind);
  }
  return {};
}

const ObjectHandle* FindObject(const std::vector<ObjectHandle>& objects, std::string_view kind,
                               std::string_view ns, std::string_view name) {
  for (const ObjectHandle& object : objects) {
    const ObjectSpec& spec = object.spec();
    if (spec.kind == kind && spec.ns == ns && spec.name == name) return &object;
  }
  return nullptr;
}

std::string_view ObjectKindOf(std::string_view column) {
  constexpr std::string_view kPrefix = "object:";
  return HasPrefix(column, kPrefix) ? column.substr(kPrefix.size()) : std::string_view();
}

Row& Table::Add(const NodeSpec& node) {
  uint32_t number = 0;
  while (number < rows.size() && rows[number].number == number) ++number;
  Row row{number, NodeHandle(node, *ids), {}};
  for (const PodSpec& pod : node.pods) row.pods.emplace_back(pod, *ids);
  return *rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(number), std::move(row));
}

Row* Table::Find(std::string_view node) {
  for (Row& row : rows) {
    if (row.node.name() == node) return &row;
  }
  return nullptr;
}

uint32_t ColumnType(std::string_view given) {
  const std::string name = CanonicalColumn(given);
  for (const char* known :
       {"alloc.cpu", "alloc.memory", "alloc.ephemeral-storage", "alloc.pods", "req.cpu",
        "req.memory", "req.ephemeral-storage", "nonzero.cpu", "nonzero.memory", "pods.count"}) {
    if (name == known) return BERTH_TYPE_I64;
  }
  if (name == "name" || HasPrefix(name, "label:")) return BERTH_TYPE_ID;
  if (name == "unschedulable") return BERTH_TYPE_U8;
  if (name == "taints.hard" || name == "taints.soft") return BERTH_TYPE_U32;
  if (name == "taints" || name == "images" || name == "features") return BERTH_TYPE_ARRAY;
  if (HasPrefix(name, "annotation:")) return BERTH_TYPE_STR;
  if (const std::string_view kind = ObjectKindOf(name); !kind.empty()) {
    return berth::internal::WhyNotDeclarable(kind).empty() ? BERTH_TYPE_OBJECT : 0;
  }
  for (const char* prefix :
       {"alloc:", "req:", "hostport:TCP/", "hostport:UDP/", "hostport:SCTP/"}) {
    if (HasPrefix(name, prefix)) return BERTH_TYPE_I64;
  }
  return 0;
}

uint32_t ColumnSize(uint32_t type) {
  switch (type) {
    case BERTH_TYPE_I64: return sizeof(int64_t);
    case BERTH_TYPE_U32: return sizeof(uint32_t);
    case BERTH_TYPE_ID: return sizeof(berth_id);
    case BERTH_TYPE_U8: return sizeof(uint8_t);
    case BERTH_TYPE_ARRAY: return sizeof(berth_array);
    case BERTH_TYPE_OBJECT: return sizeof(const berth_object*);
    case BERTH_TYPE_STR: return sizeof(berth_str);
    default: return 0;
  }
}

namespace {

// Returns a function that writes the value of a column of a row: ColumnSize bytes.
template <class Read>
std::function<void(const Row&, void*)> Writing(Read read) {
  return [read = std::move(read)](const Row& row, void* to) {
    const auto value = read(row);
    std::memcpy(to, &value, sizeof(decltype(value)));
  };
}

}  // namespace

CellWriter::CellWriter(std::string_view given, const Table& table) : type_(ColumnType(given)) {
  const Ids& ids = *table.ids;
  const std::string name = CanonicalColumn(given);
  switch (type_) {
    case BERTH_TYPE_I64: write_ = Writing(NumberReader(name, ids)); return;
    case BERTH_TYPE_U8:
      write_ =
          Writing([](const Row& row) { return static_cast<uint8_t>(row.node->unschedulable); });
      return;
    case BERTH_TYPE_U32:
      write_ = Writing(
          [soft = name == "taints.soft"](const Row& row) { return CountTaints(*row.node, soft); });
      return;
    case BERTH_TYPE_ID:
      if (name == "name") {
        write_ = Writing([](const Row& row) { return row.node->name; });
      } else {
        write_ = Writing(
            [id = ids.Find(name.substr(6))](const Row& row) { return LabelCell(id, *row.node); });
      }
      return;
    case BERTH_TYPE_OBJECT:
      write_ = Writing([kind = UsedKind(ObjectKindOf(name), table.not_served),
                        &table](const Row& row) { return ObjectCell(kind, row, table); });
      return;
    case BERTH_TYPE_STR:
      write_ = Writing([key = name.substr(name.find(':') + 1)](const Row& row) {
        return AnnotationCell(key, *row.node);
      });
      return;
    case BERTH_TYPE_ARRAY:
      write_ = Writing([list = name == "taints"   ? &berth_node::taints
                               : name == "images" ? &berth_node::images
                                                  : &berth_node::declared_features](
                           const Row& row) { return (*row.node).*list; });
      return;
    default: return;
  }
}

Block::Block(const Table& table, const std::vector<ColumnName>& columns, std::vector<uint32_t> rows,
             const std::vector<uint32_t>* selected, Layout layout)
    : table_(table), indices_(std::move(rows)), layout_(layout) {
  if (selected != nullptr) selected_ = *selected;
  is_selected_.assign(indices_.size(), selected == nullptr);
  for (const uint32_t i : selected_) is_selected_[i] = true;
  for (uint32_t i = 0; i < indices_.size(); ++i) AddNode(i);
  for (const ColumnName& column : columns) columns_.push_back(MakeColumn(column));
  view_.struct_size = sizeof view_;
  view_.count = static_cast<uint32_t>(indices_.size());
  view_.n_selected = selected != nullptr ? static_cast<uint32_t>(selected_.size()) : view_.count;
  view_.n_columns = static_cast<uint32_t>(columns_.size());
  view_.selected = selected != nullptr ? memory_.Copy(selected_.data(), selected_.size()) : nullptr;
  view_.rows = memory_.Copy(numbers_.data(), numbers_.size());
  view_.columns = memory_.Copy(columns_.data(), columns_.size());
  view_.nodes = memory_.Copy(nodes_.data(), nodes_.size());
  view_.pods = memory_.Copy(pods_.data(), pods_.size());
  view_.versions = memory_.Copy(versions_.data(), versions_.size());
}

void Block::AddNode(uint32_t i) {
  const Row& row = table_.rows[indices_[i]];
  numbers_.push_back(row.number);
  nodes_.push_back(is_hollow(i) ? nullptr : row.node.get());
  versions_.push_back(is_hollow(i) ? 0 : row.node.version());
  std::vector<const berth_pod*> pods;
  for (const PodHandle& pod : row.pods) pods.push_back(pod.get());
  if (is_hollow(i)) pods.clear();
  pods_.push_back({memory_.Copy(pods.data(), pods.size()), pods.size()});
}

berth_column Block::MakeColumn(const ColumnName& column) {
  const CellWriter writer(column.name, table_);
  const uint32_t type = column.is_declared ? writer.type() : 0;
  const uint32_t size = ColumnSize(type);
  if (type == 0 || (column.optional && layout_.no_optional)) return {nullptr, type, 0};
  const uint32_t stride = size * (1 + layout_.padding);
  const size_t start = size_t{size} * layout_.shift;
  std::vector<std::byte> bytes(start + size_t{stride} * indices_.size(), std::byte{0xa5});
  for (uint32_t i = 0; i < indices_.size(); ++i) {
    if (is_hollow(i)) continue;
    writer.Write(table_.rows[indices_[i]], bytes.data() + start + size_t{i} * stride);
  }
  return {memory_.Copy(bytes.data(), bytes.size()) + start, type, stride};
}

}  // namespace berth::testing
