// NamespaceLabels: the labels of the cluster's namespaces.
#ifndef BERTH_INTERNAL_NAMESPACE_LABELS_H_
#define BERTH_INTERNAL_NAMESPACE_LABELS_H_

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/host.h>
#include <berth/internal/term_words.h>
#include <berth/pod.h>
#include <berth/services.h>
#include <berth/span.h>

namespace berth::internal {

class NamespaceLabels {
 public:
  explicit NamespaceLabels(Host host) : host_(host) {}

  // Applies a change of a Namespace object. Returns the id of the namespace, or 0 if neither its
  // labels nor its existence changed. The id of a deleted namespace may be reused after the call.
  berth_id Apply(const ObjectChange& change) {
    const berth_meta& meta = change.now != nullptr ? *change.now->meta : *change.old->meta;
    const berth_id id = host_.Intern(Str(meta.name));
    const auto known = labels_.find(id);
    if (known != labels_.end()) host_.Release(id);  // The entry holds the id.
    if (change.now == nullptr) {
      if (known == labels_.end()) return host_.Release(id), BERTH_ID_NONE;
      Release(known->second);
      labels_.erase(known);
      host_.Release(id);
      return id;
    }
    if (known != labels_.end() && Same(known->second, Labels(meta.labels))) return BERTH_ID_NONE;
    std::vector<berth_id_pair> labels;
    for (const berth_id_pair& label : Labels(meta.labels)) {
      labels.push_back(
          {host_.Intern(host_.Text(label.key)), host_.Intern(host_.Text(label.value))});
    }
    if (known != labels_.end()) Release(known->second);
    labels_[id] = std::move(labels);
    return id;
  }

  // Returns a namespace. `must_exist`: a namespaceSelector matches only a namespace with an object.
  // Lifetime: until the next change.
  NamespaceView View(berth_id ns, bool must_exist) const {
    const auto found = labels_.find(ns);
    if (found == labels_.end()) return {ns, !must_exist, Labels()};
    return {ns, true, Labels(std::span<const berth_id_pair>(found->second))};
  }

  std::size_t size() const { return labels_.size(); }

 private:
  static bool Same(const std::vector<berth_id_pair>& a, Labels b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const berth_id_pair& left, const berth_id_pair& right) {
                        return left.key == right.key && left.value == right.value;
                      });
  }
  void Release(const std::vector<berth_id_pair>& labels) {
    for (const berth_id_pair& label : labels) {
      host_.Release(label.key);
      host_.Release(label.value);
    }
  }

  Host host_;
  // Both the ids of the namespaces and those of the labels are interned.
  std::unordered_map<berth_id, std::vector<berth_id_pair>> labels_;
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_NAMESPACE_LABELS_H_
