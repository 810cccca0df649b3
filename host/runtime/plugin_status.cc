#include "host/runtime/plugin_status.h"

namespace berth::host {

std::string PluginStatus::Message() const {
  std::string message;
  for (const std::string& reason : reasons) {
    if (!message.empty()) message += ", ";
    message += reason;
  }
  return message;
}

}  // namespace berth::host
