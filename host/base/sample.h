// A few of many things, to name them to users.
#ifndef BERTH_HOST_BASE_SAMPLE_H_
#define BERTH_HOST_BASE_SAMPLE_H_

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace berth::host {

// A number of things, and some of them.
struct Sample {
  size_t count = 0;
  std::vector<std::string> examples = {};
};

// Returns a sample of a std::set or std::map whose keys are "<namespace>/<name>", or only a name:
// the first of each namespace, so that no namespace hides another one, then more. The examples are
// sorted. `key` and `text` return the key of an element, and the example.
template <class Objects, class Key, class ToText>
Sample SampleOf(const Objects& objects, size_t limit, Key&& key, ToText&& text) {
  std::vector<typename Objects::const_iterator> taken;
  for (auto at = objects.begin(); at != objects.end() && taken.size() < limit;) {
    taken.push_back(at);
    const std::string_view name = key(*at);
    const size_t slash = name.find('/');
    constexpr char kBehindSlash = '/' + 1;
    at = slash == name.npos
             ? std::next(at)
             : objects.lower_bound(std::string(name.substr(0, slash)) + kBehindSlash);
  }
  for (auto at = objects.begin(); at != objects.end() && taken.size() < limit; ++at) {
    if (std::ranges::find(taken, at) == taken.end()) taken.push_back(at);
  }
  std::ranges::sort(taken, {}, [&](auto at) { return std::string_view(key(*at)); });
  Sample sample{.count = objects.size(), .examples = {}};
  for (const auto at : taken) sample.examples.push_back(text(*at));
  return sample;
}

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_SAMPLE_H_
