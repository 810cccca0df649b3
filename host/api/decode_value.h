// Decodes objects that are part of a JSON document that is being read: the items of a list, or the
// object of a watch event. These functions are not in decode.h because they need simdjson.
#ifndef BERTH_HOST_API_DECODE_VALUE_H_
#define BERTH_HOST_API_DECODE_VALUE_H_

#include <simdjson.h>

#include <string_view>

#include "host/api/decode.h"

namespace berth::host {

// The type that a list defines for its items: a PodList of v1 defines Pod and v1. Both fields are
// empty if the items state their own type.
struct ItemType {
  std::string_view api_version;
  std::string_view kind;
};

// Decodes `value` and consumes it.
// REQUIRES: `value` was not accessed before, and simdjson::SIMDJSON_PADDING bytes after the text of
// the document can be read.
//
// If `type` is empty, the object's own `apiVersion` and `kind` determine its type. Otherwise these
// fields may be absent, and must match `type` if they are present.
//
// Returns: see Decoder. The JSON pointer of an error begins at `value`. After an error in a
// document without syntax errors, the elements after `value` can be read.
Result<AnyObject> DecodeValue(Decoder& decoder, simdjson::ondemand::value& value,
                              const ItemType& type = {});

// Decodes an object that is a whole document, as DecodeValue() does.
Result<AnyObject> DecodeDocument(Decoder& decoder, simdjson::ondemand::object& object,
                                 const ItemType& type = {});

}  // namespace berth::host

#endif  // BERTH_HOST_API_DECODE_VALUE_H_
