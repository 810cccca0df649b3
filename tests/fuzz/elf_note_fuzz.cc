// Fuzzes the ELF reader and the parser of the plugin note with arbitrary bytes. Loads no code.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <berth/abi.h>

#include "host/base/assert.h"
#include "host/loader/elf_image.h"
#include "host/loader/plugin_note.h"

namespace berth::host {
namespace {

// Reads every byte of the view, so that AddressSanitizer detects a view that is too long.
uint64_t Touch(std::string_view text) {
  uint64_t sum = text.size();
  for (const char c : text) sum += static_cast<uint8_t>(c);
  return sum;
}

void CheckNote(std::string_view json) {
  const LoadResult<PluginNote> note = ParsePluginNote(json);
  if (!note.ok()) {
    BERTH_ASSERT(note.error().code == LoadErrorCode::kBadNote);
    BERTH_ASSERT(!note.error().expected.empty() && !note.error().found.empty());
    return;
  }
  BERTH_ASSERT(note->abi_major != BERTH_ABI_MAJOR || !note->plugins.empty());
  for (const PluginInNote& plugin : note->plugins) {
    BERTH_ASSERT(!plugin.name.empty() && !plugin.version.empty());
  }
}

uint64_t CheckImage(std::span<const std::byte> file) {
  const LoadResult<ElfImage> image = ElfImage::Parse(file);
  if (!image.ok()) {
    BERTH_ASSERT(!image.error().expected.empty() && !image.error().found.empty());
    return 0;
  }
  uint64_t sum = image->unique_symbols();
  for (const std::string_view name : image->needed()) sum += Touch(name);
  for (const std::string_view path : image->run_paths()) sum += Touch(path);
  for (const std::string_view name : image->imports()) sum += Touch(name);
  for (const ElfSymbol& symbol : image->exports()) sum += Touch(symbol.name) + symbol.size;
  for (const auto note : image->FindNotes(BERTH_NOTE_NAME, BERTH_NOTE_TYPE)) {
    const std::string_view text(reinterpret_cast<const char*>(note.data()), note.size());
    sum += Touch(text);
    CheckNote(text);
  }
  return sum;
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  [[maybe_unused]] static volatile uint64_t sink;
  sink = berth::host::CheckImage(std::as_bytes(std::span(data, size)));
  berth::host::CheckNote({reinterpret_cast<const char*>(data), size});
  return 0;
}
