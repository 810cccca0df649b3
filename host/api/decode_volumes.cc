#include "host/api/decode_parts.h"

namespace berth::host {
namespace {

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
    bool read_only = false;
    if (!reader.ReadBool(v, &read_only)) return false;
    volume->flags = read_only ? BERTH_VOLUME_FLAG_READ_ONLY : 0;
    return true;
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

bool ReadVolumes(Reader& reader, JsonValue& value, std::span<berth_volume>* volumes) {
  const size_t mark = reader.volumes.size();
  const bool ok = reader.ForEachElement(value, [&](JsonValue& element) {
    berth_volume volume = {};
    volume.kind = BERTH_VOLUME_OTHER;
    if (!ReadVolume(reader, element, &volume)) return false;
    reader.volumes.Push(volume);
    return true;
  });
  if (ok) *volumes = reader.volumes.Take(mark, reader.arena());
  return ok;
}

}  // namespace berth::host
