// The ELF note, built at compile time: JSON with the same facts as the entry.
#ifndef BERTH_INTERNAL_NOTE_H_
#define BERTH_INTERNAL_NOTE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <berth/abi.h>
#include <berth/internal/check.h>
#include <berth/internal/json.h>
#include <berth/internal/points.h>

namespace berth::internal {

template <class P>
constexpr void WriteNotePlugin(JsonWriter& out, bool first) {
  if (!first) out.Raw(",");
  out.Raw("{\"name\":");
  out.String(P::kName);
  out.Raw(",\"version\":");
  out.String(P::kVersion);
  out.Raw(",\"points\":[");
  for (std::size_t i = 0; i < PointsOf<P>::kCount; ++i) {
    if (i != 0) out.Raw(",");
    out.String(PointsOf<P>::kIds[i]);
  }
  out.Raw("]}");
}

template <class... P>
struct NoteText {
  uint16_t min_host_minor;

  constexpr void operator()(JsonWriter& out) const {
    out.Raw("{\"abi\":[");
    out.Integer(BERTH_ABI_MAJOR);
    out.Raw(",");
    out.Integer(BERTH_ABI_MINOR);
    out.Raw("],\"minHostMinor\":");
    out.Integer(min_host_minor);
    out.Raw(",\"plugins\":[");
    bool first = true;
    ((WriteNotePlugin<P>(out, first), first = false), ...);
    out.Raw("]}");
  }
};

template <std::size_t kTextSize>
struct Note {
  uint32_t name_size = sizeof(BERTH_NOTE_NAME);
  uint32_t text_size = sizeof(text);  // Includes the zero bytes at the end, which readers remove.
  uint32_t type = BERTH_NOTE_TYPE;
  char name[8] = BERTH_NOTE_NAME;
  char text[(kTextSize + 3) / 4 * 4] = {};
};

template <uint16_t kMinHostMinor, class... P>
constexpr auto MakeNote() {
  if constexpr ((CheckPlugin<P>() && ...)) {
    constexpr NoteText<P...> kWrite{kMinHostMinor};
    constexpr std::size_t kSize = JsonSize(kWrite);
    Note<kSize> note;
    JsonWriter out(note.text);
    kWrite(out);
    return note;
  } else {
    return uint32_t{0};  // the entry reports the mistake
  }
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_NOTE_H_
