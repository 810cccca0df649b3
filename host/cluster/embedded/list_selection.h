// The selectors of a list request.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_LIST_SELECTION_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_LIST_SELECTION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/base/status.h"

namespace berth::host {

// Which objects of a kind a list contains. A new selection contains all of them.
class ListSelection {
 public:
  explicit ListSelection(std::string_view kind) : kind_(kind) {}

  // Adds the selector of the query parameter labelSelector, such as "app=web,tier in (a,b)".
  // Errors: kInvalidArgument for a selector that cannot be read.
  Status AddLabels(std::string_view text, Decoder& decoder);

  // Adds the selector of the query parameter fieldSelector, such as "spec.nodeName=n1". Fields are
  // metadata.name and, of kinds with namespaces, metadata.namespace; of pods spec.nodeName,
  // spec.schedulerName, status.phase and status.nominatedNodeName; of nodes spec.unschedulable.
  // Errors: kInvalidArgument for another field, with the text of an API server, which has some more
  //         fields; and for a term without =, == or !=.
  Status AddFields(std::string_view text);

  bool Contains(const AnyObject& object) const;

 private:
  struct Term {
    std::string field;
    std::string value;
    bool is_equal;
  };

  const std::string_view kind_;
  std::vector<Parsed<berth_selector>> labels_;
  std::vector<Term> terms_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_LIST_SELECTION_H_
