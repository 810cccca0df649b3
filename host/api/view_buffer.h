// A stream buffer over text that someone else owns.
#ifndef BERTH_HOST_API_VIEW_BUFFER_H_
#define BERTH_HOST_API_VIEW_BUFFER_H_

#include <streambuf>
#include <string_view>

namespace berth::host {

// Lets a std::istream read a text without a copy.
// Lifetime: the text must outlive the buffer.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_VIEW_BUFFER_H_
