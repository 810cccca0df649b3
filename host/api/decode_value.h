// Decoding from within a JSON document that is being read: the items of a list, the object of a
// watch event. A header of its own because it brings in simdjson.
#ifndef BERTH_HOST_API_DECODE_VALUE_H_
#define BERTH_HOST_API_DECODE_VALUE_H_

#include <simdjson.h>

#include <string_view>

#include "host/api/decode.h"

namespace berth::host {

// What a list says of its items: "PodList" of "v1" says Pod and v1. Empty: the item itself says.
struct ItemType {
  std::string_view api_version;
  std::string_view kind;
};

// Decodes `value`, which has not been touched yet, and leaves it consumed. The text around it is
// padded by simdjson::SIMDJSON_PADDING bytes.
//
// Where `type` is empty, the object's own `apiVersion` and `kind` decide. Where it is not, they may
// be missing and must agree if they are there.
//
// Returns: as Decoder, with a JSON pointer that begins at `value`. After an error the document
// cannot be read on.
Result<AnyObject> DecodeValue(Decoder& decoder, simdjson::ondemand::value& value,
                              const ItemType& type = {});

// The same for the object that is a whole document.
Result<AnyObject> DecodeDocument(Decoder& decoder, simdjson::ondemand::object& object,
                                 const ItemType& type = {});

}  // namespace berth::host

#endif  // BERTH_HOST_API_DECODE_VALUE_H_
