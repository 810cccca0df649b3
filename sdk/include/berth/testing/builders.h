// Pods, nodes and other objects for tests.
//
//   const PodSpec pod = MakePod("web").Label("app", "web").CpuMilli(500);
//   const NodeSpec node = MakeNode("a").CpuMilli(4000).Pod(MakePod("old").CpuMilli(1000));
//   Ids ids;
//   const PodHandle view(pod, ids);   // view->request->milli_cpu == 500
//
// PluginUnderTest (fake_host.h) takes the specs and builds the views itself.
#ifndef BERTH_TESTING_BUILDERS_H_
#define BERTH_TESTING_BUILDERS_H_

#include <berth/testing/ids.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/parts.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/views.h>

#endif  // BERTH_TESTING_BUILDERS_H_
