// The random acts of users and controllers on storage objects.
#ifndef BERTH_TESTS_SIMULATION_STORAGE_ACTS_H_
#define BERTH_TESTS_SIMULATION_STORAGE_ACTS_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tests/simulation/cluster_writer.h"
#include "tests/simulation/random.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sketch.h"
#include "tests/simulation/volume_sketch.h"

namespace berth::host {

// Creates, changes and deletes claims, volumes, classes and CSINodes. In a scenario without volumes
// it draws no random numbers and does nothing.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive this object.
class StorageActs {
 public:
  StorageActs(const Scenario& scenario, Random& random, ClusterWriter& writer)
      : scenario_(scenario), random_(random), writer_(writer) {}
  StorageActs(const StorageActs&) = delete;
  StorageActs& operator=(const StorageActs&) = delete;

  // Creates the initial objects.
  void Populate();
  // Adds random claims and disks to a new pod.
  void AddVolumes(PodSketch& pod);
  // Sometimes creates, changes or deletes the CSINode of a node that was added or removed.
  void OnNodeAdded(const std::string& name);
  void OnNodeRemoved(const std::string& name);

  // ---- Acts -------------------------------------------------------------------------------------

  // Creates, binds, deletes or replaces a claim.
  void ChangeClaim();
  // Creates, changes, deletes or replaces a volume.
  void ChangeVolume();
  // Creates, deletes or replaces a class. The binding mode of a class never changes.
  void ChangeClass();
  // Creates, changes, deletes or replaces the CSINode of a node.
  void ChangeCsiNode(const std::string& node);

 private:
  std::string PickClaim();
  ClassSketch MakeClass(std::string name);
  VolumeSketch MakeVolume(const std::string& number);
  void CreateClaim(const std::string& name);
  void PutCsiNode(const std::string& node);
  void RemoveCsiNode(const std::string& node);
  void Create(const char* kind, std::string_view ns, std::string_view name,
              const std::string& json);
  void Update(std::string_view name, const std::string& json);
  // Returns false if the object does not exist.
  bool Remove(const char* kind, std::string_view ns, std::string_view name);

  const Scenario& scenario_;
  Random& random_;
  ClusterWriter& writer_;
  std::map<std::string, ClaimSketch> claims_;  // Existing claims by name.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_STORAGE_ACTS_H_
