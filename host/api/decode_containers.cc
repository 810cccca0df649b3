#include "host/api/decode_parts.h"

namespace berth::host {
namespace {

constexpr EnumValue kProtocols[] = {
    {"TCP", BERTH_PROTOCOL_TCP}, {"UDP", BERTH_PROTOCOL_UDP}, {"SCTP", BERTH_PROTOCOL_SCTP}};

bool ReadPorts(Reader& reader, JsonValue& value, berth_array* ports) {
  const size_t mark = reader.ports.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_port port = {};
    const bool read = reader.ForEachField(element, [&](const Field& field, JsonValue& v) {
      switch (field.hash) {
        case "containerPort"_field: return reader.ReadInt32(v, &port.container_port);
        case "hostPort"_field: return reader.ReadInt32(v, &port.host_port);
        case "hostIP"_field: return reader.ReadName(v, &port.host_ip);
        case "protocol"_field: return reader.ReadEnum(v, kProtocols, &port.protocol);
        default: return true;
      }
    });
    if (port.protocol == 0) port.protocol = BERTH_PROTOCOL_TCP;
    reader.ports.Push(port);
    return read;
  });
  if (ok) *ports = AsArray(reader.ports.Take(mark, reader.arena()));
  return ok;
}

// Reads the resources of a container. A limit without a request is also the request.
bool ReadContainerResources(Reader& reader, JsonValue& value, berth_container* container,
                            ResourceList* requests) {
  reader.resources.Clear();
  reader.limits.Clear();
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "requests"_field: return ReadResources(reader, v, &reader.resources);
      case "limits"_field: return ReadResources(reader, v, &reader.limits);
      default: return true;
    }
  });
  const ResourceList limits = reader.limits.amounts();
  reader.resources.Fill(limits);
  *requests = reader.resources.Copy(reader.scratch());
  container->limits = RoundUp(limits, reader.arena());
  container->requests =
      SameAmounts(*requests, limits) ? container->limits : RoundUp(*requests, reader.arena());
  return ok;
}

// Returns the image name with a tag, which is the form that kubelets report.
Id NormalImage(Reader& reader, std::string_view image) {
  if (image.empty()) return kNoId;
  const size_t colon = image.rfind(':');
  const size_t slash = image.rfind('/');
  const bool has_tag = colon != image.npos && (slash == image.npos || colon > slash);
  if (has_tag) return reader.Intern(image);
  return reader.Intern(std::string(image).append(":latest"));
}

bool ReadRestartRules(Reader& reader, JsonValue& value, uint32_t* flags) {
  return reader.ForEachElement(value, [&](JsonValue& element) {
    return reader.ForEachField(element, [&](const Field& field, JsonValue& v) {
      if (field.hash != "action"_field) return true;
      std::string_view action;
      if (!reader.ReadText(v, &action)) return false;
      if (action == "RestartAllContainers") *flags |= BERTH_CONTAINER_RESTARTS_ALL;
      return true;
    });
  });
}

bool ReadContainer(Reader& reader, JsonValue& value, berth_container* container,
                   ResourceList* requests) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "name"_field: return reader.ReadString(v, &container->name);
      case "image"_field: {
        std::string_view image;
        if (!reader.ReadText(v, &image)) return false;
        container->image = image.empty() ? kNoId : reader.Intern(image);
        container->image_normal = NormalImage(reader, image);
        return true;
      }
      case "resources"_field: return ReadContainerResources(reader, v, container, requests);
      case "ports"_field: return ReadPorts(reader, v, &container->ports);
      case "restartPolicy"_field: {
        std::string_view policy;
        if (!reader.ReadText(v, &policy)) return false;
        if (policy == "Always") container->flags |= BERTH_CONTAINER_SIDECAR;
        return true;
      }
      case "restartPolicyRules"_field: return ReadRestartRules(reader, v, &container->flags);
      default: return true;
    }
  });
}

// Reads the status of a container. If `resources` is present without `requests`, the requests are
// empty; if `resources` is absent, has_resources stays false.
bool ReadContainerStatus(Reader& reader, JsonValue& value, ContainerStatus* status) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "name"_field: {
        std::string_view name;
        if (!reader.ReadText(v, &name)) return false;
        status->name = name;
        return true;
      }
      case "allocatedResources"_field: return ReadResources(reader, v, &status->allocated);
      case "resources"_field:
        status->has_resources = true;
        return reader.ForEachField(v, [&](const Field& inner, JsonValue& list) {
          if (inner.hash != "requests"_field) return true;
          return ReadResources(reader, list, &status->requests);
        });
      default: return true;
    }
  });
}

}  // namespace

bool ReadContainers(Reader& reader, JsonValue& value, Containers* containers) {
  const size_t mark = reader.containers.size();
  const size_t requests_mark = reader.container_requests.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_container container = {};
    container.requests = &kNoResources;
    container.limits = &kNoResources;
    ResourceList requests;
    if (!ReadContainer(reader, element, &container, &requests)) return false;
    reader.containers.Push(container);
    reader.container_requests.Push({.name = Text(container.name),
                                    .sidecar = (container.flags & BERTH_CONTAINER_SIDECAR) != 0,
                                    .requests = requests});
    return true;
  });
  if (!ok) return false;
  containers->views = reader.containers.Take(mark, reader.arena());
  containers->requests = reader.container_requests.Take(requests_mark, reader.scratch());
  return true;
}

bool ReadContainerStatuses(Reader& reader, JsonValue& value) {
  return reader.ForEachElement(value, [&](JsonValue& element) {
    ContainerStatus status;
    if (!ReadContainerStatus(reader, element, &status)) return false;
    reader.container_statuses.Push(status);
    return true;
  });
}

}  // namespace berth::host
