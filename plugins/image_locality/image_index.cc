#include "image_index.h"

#include <algorithm>

#include <berth/span.h>

namespace images {
namespace {

// Calls each(name, size) for every name of every image of the node.
template <class F>
void ForEachName(const berth_node& node, F&& each) {
  for (const berth_image& image : berth::Span<const berth_image>(node.images)) {
    for (const berth_id name : berth::Span<const berth_id>(image.names)) each(name, image.size);
  }
}

}  // namespace

// ---- RowSet -------------------------------------------------------------------------------------

std::vector<RowSet::Word>::iterator RowSet::Find(uint32_t group) {
  // Rows are mostly added in ascending order.
  if (!words_.empty() && words_.back().group < group) return words_.end();
  return std::lower_bound(words_.begin(), words_.end(), group,
                          [](const Word& word, uint32_t wanted) { return word.group < wanted; });
}

bool RowSet::Insert(uint32_t row) {
  auto word = Find(GroupOf(row));
  if (word == words_.end() || word->group != GroupOf(row)) {
    word = words_.insert(word, {GroupOf(row), 0});
  }
  if ((word->bits & BitOf(row)) != 0) return false;
  word->bits |= BitOf(row);
  ++size_;
  return true;
}

bool RowSet::Erase(uint32_t row) {
  const auto word = Find(GroupOf(row));
  if (word == words_.end() || word->group != GroupOf(row)) return false;
  if ((word->bits & BitOf(row)) == 0) return false;
  word->bits &= ~BitOf(row);
  if (word->bits == 0) words_.erase(word);
  --size_;
  return true;
}

uint64_t RowSet::BitsOf(uint32_t group) const {
  const auto word =
      std::lower_bound(words_.begin(), words_.end(), group,
                       [](const Word& each, uint32_t wanted) { return each.group < wanted; });
  return word == words_.end() || word->group != group ? 0 : word->bits;
}

// ---- ImageIndex ---------------------------------------------------------------------------------

void ImageIndex::OnChange(const berth::Change& change) {
  switch (change.kind) {
    case BERTH_CHANGE_NODE_ADDED: Add(change.row, *change.node); break;
    case BERTH_CHANGE_NODE_CHANGED:
      Remove(change.row, *change.old_node);
      Add(change.row, *change.node);
      break;
    case BERTH_CHANGE_NODE_REMOVED: Remove(change.row, *change.node); break;
    default: break;
  }
}

const Image* ImageIndex::Find(berth_id name) const {
  const auto found = images_.find(name);
  return found == images_.end() ? nullptr : &found->second;
}

void ImageIndex::Add(uint32_t row, const berth_node& node) {
  ForEachName(node, [this, row](berth_id name, int64_t size) {
    const auto [image, is_new] = images_.try_emplace(name);
    if (is_new) image->second.size = size;
    image->second.holders.Insert(row);
  });
}

void ImageIndex::Remove(uint32_t row, const berth_node& node) {
  ForEachName(node, [this, row](berth_id name, int64_t /*size*/) {
    const auto image = images_.find(name);
    // A node may report a name twice.
    if (image == images_.end()) return;
    image->second.holders.Erase(row);
    if (image->second.holders.size() == 0) images_.erase(image);
  });
}

}  // namespace images
