#include <optional>
#include <string>

#include "host/api/decode_parts.h"
#include "host/api/quantity.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

// ---- Resources ----------------------------------------------------------------------------------

// Reads a quantity, which is a string or a number; the API server accepts both, and spaces around
// the text.
bool ReadQuantity(Reader& reader, JsonValue& value, Quantity* quantity) {
  std::string_view text = value.raw_json_token();
  if (text.starts_with('"')) {
    if (!reader.ReadText(value, &text)) return false;
  } else if (text.starts_with('{') || text.starts_with('[')) {
    return reader.FailExpected("a quantity", value);
  }
  text = TrimSpace(text);
  const Result<Quantity> parsed = ParseQuantity(text);
  if (!parsed.ok()) {
    return reader.Fail(parsed.status().code(), std::string(parsed.status().message()));
  }
  if (parsed->Sign() < 0) return reader.FailExpected("a quantity of 0 or more", text);
  *quantity = *parsed;
  return true;
}

// Reads one entry of a ResourceList into `sum`; a resource that a pod cannot request at pod level
// into `others`, which may be null to skip it.
bool ReadResource(Reader& reader, const Field& field, JsonValue& value, ResourceSum* sum,
                  ResourceSum* others) {
  Quantity amount;
  if (!ReadQuantity(reader, value, &amount)) return false;
  switch (ClassifyResource(field.name)) {
    case ResourceClass::kCpu: sum->Append(BERTH_PRESENT_CPU, amount); break;
    case ResourceClass::kMemory: sum->Append(BERTH_PRESENT_MEMORY, amount); break;
    case ResourceClass::kEphemeralStorage:
      if (others != nullptr) others->Append(BERTH_PRESENT_EPHEMERAL_STORAGE, amount);
      break;
    case ResourceClass::kPods:
      if (others != nullptr) others->Append(BERTH_PRESENT_PODS, amount);
      break;
    case ResourceClass::kHugePages:
      sum->Append(ScalarKey(reader.Intern(field.name)), amount);
      break;
    case ResourceClass::kScalar:
      if (others != nullptr) others->Append(ScalarKey(reader.Intern(field.name)), amount);
      break;
    case ResourceClass::kIgnored: break;
  }
  return true;
}

// Reads a ResourceList of the API into `sum` and `others`, which are cleared first, as
// ReadResource() does.
bool ReadSums(Reader& reader, JsonValue& value, ResourceSum* sum, ResourceSum* others) {
  sum->Clear();
  if (others != nullptr) others->Clear();
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    return ReadResource(reader, field, v, sum, others);
  });
  sum->Sort();
  if (others != nullptr) others->Sort();
  return ok;
}

bool ReadSum(Reader& reader, JsonValue& value, ResourceSum* sum) {
  return ReadSums(reader, value, sum, sum);
}

// ---- Containers ---------------------------------------------------------------------------------

constexpr EnumValue kProtocols[] = {
    {"TCP", BERTH_PROTOCOL_TCP}, {"UDP", BERTH_PROTOCOL_UDP}, {"SCTP", BERTH_PROTOCOL_SCTP}};

bool ReadPorts(Reader& reader, JsonValue& value, berth_array* ports) {
  return reader.ReadList(value, berth_port{}, ports, [&](JsonValue& element, berth_port& port) {
    const bool ok = reader.ForEachField(element, [&](const Field& field, JsonValue& v) {
      switch (field.hash) {
        case "containerPort"_field: return reader.ReadInt32(v, &port.container_port);
        case "hostPort"_field: return reader.ReadInt32(v, &port.host_port);
        case "hostIP"_field: return reader.ReadName(v, &port.host_ip);
        case "protocol"_field: return reader.ReadEnum(v, kProtocols, &port.protocol);
        default: return true;
      }
    });
    if (port.protocol == 0) port.protocol = BERTH_PROTOCOL_TCP;
    return ok;
  });
}

// Reads the resources of a container. A limit without a request is also the request.
bool ReadContainerResources(Reader& reader, JsonValue& value, berth_container* container,
                            ResourceList* requests) {
  reader.resources.Clear();
  reader.limits.Clear();
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "requests"_field: return ReadSum(reader, v, &reader.resources);
      case "limits"_field: return ReadSum(reader, v, &reader.limits);
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

bool ReadVolumeMounts(Reader& reader, JsonValue& value, uint32_t* pod_flags) {
  return reader.ForEachElement(value, [&](JsonValue& mount) {
    return reader.ForEachField(mount, [&](const Field& field, JsonValue& v) {
      if (field.hash != "bindMountOptions"_field) return true;
      return reader.ForEachElement(v, [pod_flags](JsonValue& /*option*/) {
        *pod_flags |= BERTH_POD_HAS_BIND_MOUNT_OPTIONS;
        return true;
      });
    });
  });
}

bool ReadContainer(Reader& reader, JsonValue& value, berth_container* container,
                   ResourceList* requests, uint32_t* pod_flags) {
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
      case "volumeMounts"_field: return ReadVolumeMounts(reader, v, pod_flags);
      default: return true;
    }
  });
}

// Reads a ResourceList that may be absent.
bool ReadOptionalResources(Reader& reader, JsonValue& value,
                           std::optional<ResourceList>* resources) {
  ResourceList list;
  if (!ReadResources(reader, value, &list)) return false;
  *resources = list;
  return true;
}

bool ReadContainerStatus(Reader& reader, JsonValue& value, ContainerStatus* status) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "name"_field: {
        std::string_view name;
        if (!reader.ReadText(v, &name)) return false;
        status->name = name;
        return true;
      }
      case "allocatedResources"_field: return ReadOptionalResources(reader, v, &status->allocated);
      case "resources"_field:
        status->has_resources = reader.ForEachField(v, [&](const Field& inner, JsonValue& list) {
          if (inner.hash != "requests"_field) return true;
          return ReadOptionalResources(reader, list, &status->requests);
        });
        return status->has_resources;
      default: return true;
    }
  });
}

// ---- Volumes ------------------------------------------------------------------------------------

// The hashes of the names that a volume kind uses for the view's fields source, pool and hosts; 0
// if the kind has no such field.
struct SourceFields {
  uint64_t source = 0;
  uint64_t pool = 0;
  uint64_t hosts = 0;
};

bool ReadSource(Reader& reader, JsonValue& value, const SourceFields& names, berth_volume* volume) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    if (field.hash == names.source) return reader.ReadString(v, &volume->source);
    if (field.hash == names.pool) return reader.ReadString(v, &volume->pool);
    if (field.hash == names.hosts) return reader.ReadStrings(v, &volume->hosts);
    if (field.hash != "readOnly"_field) return true;
    return reader.ReadFlag(v, BERTH_VOLUME_FLAG_READ_ONLY, &volume->flags);
  });
}

bool ReadVolume(Reader& reader, JsonValue& value, berth_volume* volume) {
  const auto source = [&](JsonValue& v, uint32_t kind, const SourceFields& names) {
    volume->kind = kind;
    return ReadSource(reader, v, names, volume);
  };
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "name"_field: return reader.ReadString(v, &volume->name);
      case "persistentVolumeClaim"_field: return source(v, BERTH_VOLUME_CLAIM, {"claimName"_field});
      case "ephemeral"_field: return source(v, BERTH_VOLUME_EPHEMERAL, {});
      case "gcePersistentDisk"_field: return source(v, BERTH_VOLUME_GCE_DISK, {"pdName"_field});
      case "awsElasticBlockStore"_field:
        return source(v, BERTH_VOLUME_AWS_DISK, {"volumeID"_field});
      case "iscsi"_field: return source(v, BERTH_VOLUME_ISCSI, {"iqn"_field, "targetPortal"_field});
      case "rbd"_field:
        volume->pool = AsStr("rbd");
        return source(v, BERTH_VOLUME_RBD, {"image"_field, "pool"_field, "monitors"_field});
      case "csi"_field: return source(v, BERTH_VOLUME_CSI, {"driver"_field});
      case "azureDisk"_field:
        return source(v, BERTH_VOLUME_AZURE_DISK, {"diskName"_field, "diskURI"_field});
      case "azureFile"_field:
        return source(v, BERTH_VOLUME_AZURE_FILE, {"shareName"_field, "secretName"_field});
      case "cinder"_field: return source(v, BERTH_VOLUME_CINDER, {"volumeID"_field});
      case "vsphereVolume"_field: return source(v, BERTH_VOLUME_VSPHERE, {"volumePath"_field});
      case "portworxVolume"_field: return source(v, BERTH_VOLUME_PORTWORX, {"volumeID"_field});
      case "hostPath"_field: return source(v, BERTH_VOLUME_HOST_PATH, {"path"_field});
      case "nfs"_field: return source(v, BERTH_VOLUME_NFS, {"server"_field, "path"_field});
      case "image"_field: return source(v, BERTH_VOLUME_IMAGE, {"reference"_field});
      default: return true;
    }
  });
}

}  // namespace

bool ReadResources(Reader& reader, JsonValue& value, ResourceList* resources) {
  if (!ReadSum(reader, value, &reader.resources)) return false;
  *resources = reader.resources.Copy(reader.scratch());
  return true;
}

bool ReadResources(Reader& reader, JsonValue& value, const berth_resources** resources) {
  if (!ReadSum(reader, value, &reader.resources)) return false;
  *resources = RoundUp(reader.resources.amounts(), reader.arena());
  return true;
}

bool ReadPodLevelResources(Reader& reader, JsonValue& value, ResourceList* resources) {
  if (!ReadSums(reader, value, &reader.resources, nullptr)) return false;
  *resources = reader.resources.Copy(reader.scratch());
  return true;
}

bool ReadPodStatusList(Reader& reader, JsonValue& value, std::optional<PodStatusList>* list) {
  ResourceSum& pod_level = reader.resources;
  ResourceSum& others = reader.limits;
  if (!ReadSums(reader, value, &pod_level, &others)) return false;
  *list = {.pod_level = pod_level.Copy(reader.scratch()), .others = others.Copy(reader.scratch())};
  return true;
}

bool ReadContainers(Reader& reader, JsonValue& value, Containers* containers, uint32_t* pod_flags) {
  Stack<ContainerRequests>& all_requests = reader.stack<ContainerRequests>();
  const size_t mark = all_requests.size();
  berth_container initial = {};
  initial.requests = &kNoResources;
  initial.limits = &kNoResources;
  const auto read = [&](JsonValue& element, berth_container& container) {
    ResourceList requests;
    if (!ReadContainer(reader, element, &container, &requests, pod_flags)) return false;
    all_requests.Push({.name = Text(container.name),
                       .sidecar = (container.flags & BERTH_CONTAINER_SIDECAR) != 0,
                       .requests = requests});
    return true;
  };
  if (!reader.ReadList(value, initial, &containers->views, read)) return false;
  containers->requests = all_requests.Take(mark, reader.scratch());
  return true;
}

bool ReadEphemeralContainers(Reader& reader, JsonValue& value, uint32_t* pod_flags) {
  return reader.ForEachElement(value, [&](JsonValue& container) {
    return reader.ForEachField(container, [&](const Field& field, JsonValue& v) {
      return field.hash != "volumeMounts"_field || ReadVolumeMounts(reader, v, pod_flags);
    });
  });
}

bool ReadContainerStatuses(Reader& reader, JsonValue& value) {
  return reader.ForEachElement(value, [&](JsonValue& element) {
    ContainerStatus status;
    if (!ReadContainerStatus(reader, element, &status)) return false;
    reader.stack<ContainerStatus>().Push(status);
    return true;
  });
}

bool ReadVolumes(Reader& reader, JsonValue& value, std::span<berth_volume>* volumes) {
  berth_volume initial = {};
  initial.kind = BERTH_VOLUME_OTHER;
  return reader.ReadList(value, initial, volumes, [&](JsonValue& element, berth_volume& volume) {
    return ReadVolume(reader, element, &volume);
  });
}

}  // namespace berth::host
