// TermGroups: the term groups of a TopologyIndex.
#ifndef BERTH_INTERNAL_TERM_GROUPS_H_
#define BERTH_INTERNAL_TERM_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>

#include <berth/abi.h>
#include <berth/host.h>
#include <berth/internal/term_finder.h>
#include <berth/internal/term_words.h>
#include <berth/internal/topologies.h>
#include <berth/pod.h>
#include <berth/term_group.h>

namespace berth::internal {

class TermGroups {
 public:
  explicit TermGroups(Host host)
      : host_(host), by_words_(0, WordsHash{host.hash_key()[0]}), finder_(host.hash_key()[0]) {}

  // Returns the group of a term of a pod in namespace `ns`, with one more user; null for a term
  // that means no pod. If the group is new, calls `topology()` for the topology of its key.
  template <class F>
  TermGroup* Use(TermKind kind, berth_id ns, const berth_pod_term& term, F&& topology) {
    if (MatchesNothing(term.selector)) return nullptr;
    scratch_.assign({kind, static_cast<uint32_t>(term.weight), term.topology_key});
    AppendTerm(ns, term, scratch_);
    std::unique_ptr<TermGroup>& group = by_words_[scratch_];
    if (group == nullptr) {
      group = std::make_unique<TermGroup>();
      group->id_ = ++last_id_;
      group->words_ = scratch_;
      group->topology_ = &topology();
      if (SelectsNamespaces(*group)) ++selecting_;
      ForEachId(*group, [this](uint32_t& id) { host_.Intern(host_.Text(id)); });
    }
    ++group->users_;
    return group.get();
  }
  // Undoes one call of Use(). `token`: of the state now. A group without users is kept until Trim()
  // drops it, because answers may have been computed with it.
  void Drop(TermGroup& group, uint64_t token) {
    if (--group.users_ != 0) return;
    // If the group is already in the list with this token, that entry is enough.
    if (group.retired_ != token) retired_.push_back({token, &group});
    group.retired_ = token;
  }
  // Drops the groups without users that left before the state of token `oldest`. Calls
  // `drop(const Topology&)` for the topology of each.
  template <class F>
  void Trim(uint64_t oldest, F&& drop) {
    while (!retired_.empty() && retired_.front().token < oldest) {
      const Retired retired = retired_.front();
      retired_.pop_front();
      TermGroup& group = *retired.group;
      if (group.users_ != 0 || group.retired_ != retired.token) continue;
      drop(group.topology());
      Remove(group);
    }
  }

  // Changes the number of pods of a group in the domain of a row. Returns false if the row has no
  // domain.
  bool Count(TermGroup& group, uint32_t row, int64_t change) {
    const uint32_t domain = group.topology_->DomainOf(row);
    if (domain == Topology::kNone) return false;
    group.counts_.Add(domain, change);
    if (group.entered_) return true;
    // A group whose key no node has is never entered, so that it costs other pods nothing.
    group.entered_ = true;
    group.requirement_ = finder_.Add(&group, group.words_.data() + kTerm);
    return true;
  }

  // Calls `each(const TermGroup&)` for every group of these kinds that means a pod with these
  // labels in this namespace and that has, or had, a count, in no particular order.
  template <class F>
  void ForEachMeaning(uint32_t kinds, const NamespaceView& ns, Labels labels, F&& each) const {
    if (by_words_.empty()) return;
    finder_.ForEachCandidate(ns.id, labels, [&](const TermGroup& group) {
      if ((group.kind() & kinds) == 0) return;
      const uint32_t* at = group.words_.data() + kTerm;
      if (MatchTerm(at, ns, labels)) each(group);
    });
  }

  // Returns whether the labels of the namespace `ns` decide if a group of these kinds means a pod
  // with these labels in it.
  bool ReadsLabelsOfNamespace(uint32_t kinds, berth_id ns, Labels labels) const {
    if (selecting_ == 0) return false;
    bool reads = false;
    finder_.ForEachCandidate(ns, labels, [&](const TermGroup& group) {
      if (reads || (group.kind() & kinds) == 0) return;
      const uint32_t* at = group.words_.data() + kTerm;
      reads = ScopeReadsLabels(at, ns) && MatchSelector(at, labels);
    });
    return reads;
  }

  std::size_t size() const { return by_words_.size(); }
  std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const auto& [words, group] : by_words_) {
      bytes += sizeof(TermGroup) + kNodeBytes + 2 * words.size() * sizeof(uint32_t) +
               group->counts_.bytes();
    }
    return bytes;
  }

 private:
  static constexpr uint32_t kTerm = 3;            // Where the words of the term begin.
  static constexpr std::size_t kNodeBytes = 160;  // A group in tables.

  struct Retired {
    uint64_t token;
    TermGroup* group;
  };

  template <class F>
  static void ForEachId(TermGroup& group, F&& each) {
    uint32_t* at = group.words_.data() + kTerm;
    ForEachTermId(at, each);
  }
  static bool SelectsNamespaces(const TermGroup& group) {
    const uint32_t* at = group.words_.data() + kTerm;
    return ScopeReadsLabels(at, BERTH_ID_NONE);
  }
  void Remove(TermGroup& group) {
    if (SelectsNamespaces(group)) --selecting_;
    if (group.entered_) {
      finder_.Remove(&group, group.words_.data() + kTerm, group.requirement_);
    }
    ForEachId(group, [this](uint32_t& id) { host_.Release(id); });
    by_words_.erase(by_words_.find(group.words_));
  }

  Host host_;
  std::unordered_map<Words, std::unique_ptr<TermGroup>, WordsHash> by_words_;
  TermFinder<TermGroup> finder_;
  std::deque<Retired> retired_;  // Groups that lost their last user, in this order.
  Words scratch_;
  std::size_t selecting_ = 0;  // Groups whose scope depends on the labels of namespaces.
  uint32_t last_id_ = 0;
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_TERM_GROUPS_H_
