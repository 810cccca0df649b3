// The index of images: which nodes hold an image, and its size.
#ifndef BERTH_PLUGINS_IMAGE_LOCALITY_IMAGE_INDEX_H_
#define BERTH_PLUGINS_IMAGE_LOCALITY_IMAGE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <berth/abi.h>
#include <berth/changes.h>

namespace images {

// A set of row numbers. It has one word for every 64 rows of which at least one is in the set, so
// that its size is proportional to the number of rows at most, whether rows are sparse or dense.
class RowSet {
 public:
  // A group of 64 rows: bit i stands for row 64 * group + i.
  struct Word {
    uint32_t group;
    uint64_t bits;
  };

  static constexpr uint32_t GroupOf(uint32_t row) { return row / 64; }
  static constexpr uint64_t BitOf(uint32_t row) { return uint64_t{1} << row % 64; }

  // Adds the row. Returns false if it was in the set.
  bool Insert(uint32_t row);
  // Removes the row. Returns false if it was not in the set.
  bool Erase(uint32_t row);
  // Returns the number of rows.
  uint32_t size() const { return size_; }
  // Returns the bits of a group: 0 if no row of the group is in the set. Takes time logarithmic in
  // the number of words.
  uint64_t BitsOf(uint32_t group) const;

 private:
  std::vector<Word>::iterator Find(uint32_t group);

  std::vector<Word> words_;  // Sorted by group; no word is 0.
  uint32_t size_ = 0;
};

struct Image {
  int64_t size = 0;  // Bytes. See ImageIndex.
  RowSet holders;    // The rows of the nodes that hold the image.
};

// Follows the changes of nodes. An image is known by each of its names, as if every name were an
// image of its own. The size of an image is the size that the first of its present and former
// holders reported, until no node holds the image any more.
// kube-scheduler: pkg/scheduler/backend/cache/cache.go, addNodeImageStates, removeNodeImageStates
//
// Threading: OnChange: as for the extension point Changes; Find: [cycle] and [block].
class ImageIndex {
 public:
  void OnChange(const berth::Change& change);

  // Returns the image, or null if no node holds it. Lifetime: until the next change of a node.
  const Image* Find(berth_id name) const;
  // Returns the number of names that are known.
  size_t size() const { return images_.size(); }

 private:
  void Add(uint32_t row, const berth_node& node);
  void Remove(uint32_t row, const berth_node& node);

  // Keyed by name. A name's id lives as long as one of the holders.
  std::unordered_map<berth_id, Image> images_;
};

}  // namespace images

#endif  // BERTH_PLUGINS_IMAGE_LOCALITY_IMAGE_INDEX_H_
