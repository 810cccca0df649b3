// A queue in which the items of one namespace neither delay nor displace those of another.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_FAIR_QUEUE_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_FAIR_QUEUE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {

// The order in which the items of a namespace leave, and in which they are lost.
enum class QueueRank : uint8_t {
  kFirst,
  kRepeat,
  kLater,  // Does not leave by Pop() until Remove() and Push() give it another rank.
};

// If there are items of kFirst and of kRepeat, three of four that leave are of kFirst, and the
// fourth is of kRepeat. Within a rank, the namespaces take turns, and each sends its oldest item.
// If the queue has become too large, the namespace with the most bytes loses an item: the oldest
// one of rank kRepeat, or else of rank kLater, or else the newest of rank kFirst, because the older
// ones are sent sooner.
//
// Threading: one thread at a time.
// Cost:      each function: O(log namespaces).
template <class Item>
class FairQueue {
 public:
  FairQueue() = default;
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  // Adds an item. `key` names it for the next functions. REQUIRES: no item has the key.
  void Push(std::string key, std::string_view ns, QueueRank rank, size_t bytes, Item item) {
    const auto [at, is_new_line] = lines_.try_emplace(std::string(ns));
    Line& line = at->second;
    if (is_new_line) line.ns = at->first;
    std::list<Place>& places = line.PlacesOf(rank);
    places.push_back({std::move(item), std::move(key), bytes, rank, &line});
    const bool is_new = places_.emplace(places.back().key, std::prev(places.end())).second;
    BERTH_ASSERT(is_new);
    Resize(line, line.bytes + bytes);
    const bool takes_turns = rank != QueueRank::kLater && places.size() == 1;
    if (takes_turns) line.TurnOf(rank) = TurnsOf(rank).insert(TurnsOf(rank).end(), &line);
  }

  // Returns the item with the key; null if there is none. Lifetime: until it is removed.
  const Item* Find(std::string_view key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : &found->second->item;
  }

  // Gives the place of the item with the key to another one, which has the same namespace. Returns
  // the former item; nullopt if no item has the key.
  std::optional<Item> Replace(std::string_view key, size_t bytes, Item item) {
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    Place& place = *found->second;
    Resize(*place.line, place.line->bytes - std::exchange(place.bytes, bytes) + bytes);
    return std::exchange(place.item, std::move(item));
  }

  // Removes the item with the key; nullopt if there is none.
  std::optional<Item> Remove(std::string_view key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    return Take(found->second);
  }

  // Removes the item whose turn it is; nullopt if there is none.
  std::optional<Item> Pop() {
    constexpr uint64_t kShare = 4;
    const bool favours_repeat = ++pops_ % kShare == 0;
    for (QueueRank rank : {QueueRank::kFirst, QueueRank::kRepeat}) {
      if (favours_repeat) rank = rank == QueueRank::kFirst ? QueueRank::kRepeat : QueueRank::kFirst;
      std::list<Line*>& turns = TurnsOf(rank);
      if (turns.empty()) continue;
      Line& line = *turns.front();
      turns.splice(turns.end(), turns, turns.begin());
      return Take(line.PlacesOf(rank).begin());
    }
    return std::nullopt;
  }

  // Removes the item that a queue which is too large loses. REQUIRES: !empty().
  Item Drop() {
    BERTH_ASSERT(!empty());
    Line& line = lines_.find(by_bytes_.rbegin()->second)->second;
    for (const QueueRank rank : {QueueRank::kRepeat, QueueRank::kLater}) {
      std::list<Place>& places = line.PlacesOf(rank);
      if (!places.empty()) return Take(places.begin());
    }
    return Take(std::prev(line.PlacesOf(QueueRank::kFirst).end()));
  }

  bool empty() const { return places_.empty(); }
  size_t size() const { return places_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Line;
  struct Place {
    Item item;
    std::string key;
    size_t bytes;
    QueueRank rank;
    Line* line;
  };
  using PlaceRef = typename std::list<Place>::iterator;

  // The items of one namespace.
  struct Line {
    std::list<Place>& PlacesOf(QueueRank rank) { return places[static_cast<size_t>(rank)]; }
    typename std::list<Line*>::iterator& TurnOf(QueueRank rank) {
      return turns[static_cast<size_t>(rank)];
    }

    std::string_view ns;                     // The key of this line.
    std::array<std::list<Place>, 3> places;  // By QueueRank.
    // By QueueRank; set if there are items of it.
    std::array<typename std::list<Line*>::iterator, 2> turns{};
    size_t bytes = 0;
  };

  std::list<Line*>& TurnsOf(QueueRank rank) { return turns_[static_cast<size_t>(rank)]; }

  void Resize(Line& line, size_t bytes) {
    by_bytes_.erase({line.bytes, line.ns});
    bytes_ = bytes_ - line.bytes + bytes;
    line.bytes = bytes;
    by_bytes_.emplace(bytes, line.ns);
  }

  Item Take(PlaceRef at) {
    Line& line = *at->line;
    const QueueRank rank = at->rank;
    Item item = std::move(at->item);
    places_.erase(at->key);
    Resize(line, line.bytes - at->bytes);
    line.PlacesOf(rank).erase(at);
    const bool loses_turn = rank != QueueRank::kLater && line.PlacesOf(rank).empty();
    if (loses_turn) TurnsOf(rank).erase(line.TurnOf(rank));
    if (std::ranges::all_of(line.places, [](const auto& places) { return places.empty(); })) {
      by_bytes_.erase({line.bytes, line.ns});
      lines_.erase(lines_.find(line.ns));
    }
    return item;
  }

  std::map<std::string, Line, std::less<>> lines_;  // By namespace.
  std::array<std::list<Line*>, 2> turns_;  // By QueueRank: the lines that have items of it.
  std::set<std::pair<size_t, std::string_view>> by_bytes_;  // By bytes, then Line::ns.
  std::unordered_map<std::string_view, PlaceRef> places_;   // By Place::key.
  size_t bytes_ = 0;
  uint64_t pops_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_FAIR_QUEUE_H_
