#include <string>

#include "host/api/decode_testing.h"

namespace berth::host {
namespace {

class DecodeNodeTest : public DecodeTest {};

TEST_F(DecodeNodeTest, ReadsAllFields) {
  const NodeRef node = DecodeNode(
      "'unschedulable':true,'taints':[{'key':'a','value':'x','effect':'NoSchedule'},"
      "{'key':'b','effect':'PreferNoSchedule'},{'key':'c','effect':'NoExecute',"
      "'timeAdded':'2026-01-10T08:00:00Z'}]",
      "'capacity':{'cpu':'4','memory':'8Gi','pods':'110','ephemeral-storage':'10',"
      "'hugepages-1Gi':'0','nvidia.com/gpu':'8','storage':'5'},"
      "'allocatable':{'cpu':'3500m','memory':'7Gi','pods':'100','nvidia.com/gpu':'7'},"
      "'conditions':[{'type':'Ready','status':'True','lastHeartbeatTime':null}],"
      "'images':[{'names':['a:1','a@sha256:0'],'sizeBytes':500},{'names':[]}],"
      "'declaredFeatures':['F2','F1','F2']",
      "'labels':{'zone':'z1'},'namespace':'ignored'");
  const berth_node& view = node->view();
  EXPECT_EQ(view.struct_size, sizeof(berth_node));
  EXPECT_EQ(Show(view.name), "'n'");
  EXPECT_EQ(node->Key(), "n");
  EXPECT_EQ(node->ns(), "");
  EXPECT_EQ(view.unschedulable, 1u);
  EXPECT_EQ(ShowPairs(node->meta().labels), "zone=z1");
  std::string taints;
  for (const berth_taint& taint : Elements<berth_taint>(view.taints)) {
    taints.append(Show(taint.key)).append(Show(taint.value));
    taints.append(std::to_string(taint.effect)).append(" ");
  }
  EXPECT_EQ(taints, "'a''x'1 'b'''2 'c'''3 ");
  EXPECT_EQ(Show(*view.capacity),
            "cpu=4000 memory=8589934592 ephemeral-storage=10 pods=110 hugepages-1Gi=0 "
            "nvidia.com/gpu=8");
  EXPECT_EQ(Show(*view.allocatable), "cpu=3500 memory=7516192768 pods=100 nvidia.com/gpu=7");
  ASSERT_EQ(view.conditions.count, 1u);
  const auto images = Elements<berth_image>(view.images);
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].names.count, 2u);
  EXPECT_EQ(Show(Elements<Id>(images[0].names)[1]), "'a@sha256:0'");
  EXPECT_EQ(images[0].size, 500);
  const auto features = Elements<Id>(view.declared_features);
  ASSERT_EQ(features.size(), 3u);
  EXPECT_LE(features[0], features[1]);
  EXPECT_LE(features[1], features[2]);
}

TEST_F(DecodeNodeTest, AllocatableIsCapacityWhenAbsent) {
  EXPECT_EQ(Show(*DecodeNode("", "'capacity':{'cpu':'4'}")->view().allocatable), "cpu=4000");
  EXPECT_EQ(Show(*DecodeNode("", "'capacity':{'cpu':'4'},'allocatable':{}")->view().allocatable),
            "");
  const NodeRef empty = DecodeNode("", "");
  EXPECT_EQ(Show(*empty->view().allocatable), "");
  EXPECT_EQ(Show(*empty->view().capacity), "");
  EXPECT_EQ(empty->view().unschedulable, 0u);
}

TEST_F(DecodeNodeTest, ErrorsNameThePathAndTheValue) {
  EXPECT_EQ(NodeError("'taints':[{'key':'a','effect':'NoSchedule'},{'effect':'Foo'}]"),
            "/spec/taints/1/effect: expected NoSchedule, PreferNoSchedule or NoExecute, found "
            "\"Foo\"");
  EXPECT_EQ(NodeError("'unschedulable':1"), "/spec/unschedulable: expected true or false, found 1");
  EXPECT_EQ(NodeError("", "'images':[{'sizeBytes':'1'}]"),
            "/status/images/0/sizeBytes: expected an integer, found \"1\"");
  EXPECT_EQ(NodeError("", "'capacity':{'cpu':true}").substr(0, 22), "/status/capacity/cpu: ");
}

class DecodeObjectTest : public DecodeTest {
 protected:
  std::string Error(std::string_view text) {
    const Result<ObjectRef> object = decoder_.DecodeObject(Json(text));
    return object.ok() ? "decoded" : std::string(object.status().message());
  }
};

TEST_F(DecodeObjectTest, KeepsTheMetadataAndTheWholeObject) {
  const Result<ObjectRef> object = decoder_.DecodeObject(
      Json("{ 'apiVersion' : 'storage.k8s.io/v1',\n 'kind':'CSINode','metadata':{'name':'n',"
           "'uid':'u','resourceVersion':'5','labels':{'a':'b'}},'spec':{'drivers':[ 1.50, null ]}} "
           "\n"));
  ASSERT_TRUE(object.ok()) << object.status().ToString();
  EXPECT_EQ((*object)->kind(), "storage.k8s.io/v1/CSINode");
  EXPECT_EQ((*object)->Key(), "n");
  EXPECT_EQ((*object)->uid(), "u");
  EXPECT_EQ(ShowPairs((*object)->meta().labels), "a=b");
  EXPECT_EQ(Show((*object)->value()),
            "{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'n',"
            "'uid':'u','resourceVersion':'5','labels':{'a':'b'}},'spec':{'drivers':"
            "[1.5f,null]}}");
  EXPECT_EQ((*object)->view().struct_size, sizeof(berth_object));
}

TEST_F(DecodeObjectTest, DefaultsTheNamespaceOfKindsThatHaveOne) {
  const auto key = [this](const char* version, const char* kind) {
    const Result<ObjectRef> object =
        decoder_.DecodeObject(Json(std::string("{'apiVersion':'") + version + "','kind':'" + kind +
                                   "','metadata':{'name':'x'}}"));
    return object.ok() ? (*object)->Key() : object.status().ToString();
  };
  EXPECT_EQ(key("v1", "PersistentVolumeClaim"), "default/x");
  EXPECT_EQ(key("v1", "Service"), "default/x");
  EXPECT_EQ(key("policy/v1", "PodDisruptionBudget"), "default/x");
  EXPECT_EQ(key("v1", "PersistentVolume"), "x");
  EXPECT_EQ(key("storage.k8s.io/v1", "StorageClass"), "x");
  EXPECT_EQ(key("example.com/v1", "Pod"), "x");
}

TEST_F(DecodeObjectTest, AddsTheNameLabelToNamespaces) {
  const Result<ObjectRef> object =
      decoder_.DecodeObject(Json("{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'shop',"
                                 "'labels':{'team':'a','kubernetes.io/metadata.name':'wrong'}}}"));
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(ShowPairs((*object)->meta().labels), "kubernetes.io/metadata.name=shop team=a");
}

TEST_F(DecodeObjectTest, DecodesByVersionAndKind) {
  const auto index = [this](std::string_view text) {
    const Result<AnyObject> object = decoder_.Decode(Json(text));
    return object.ok() ? static_cast<int32_t>(object->index()) : -1;
  };
  EXPECT_EQ(index("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'x'}}"), 0);
  EXPECT_EQ(index("{'metadata':{'name':'x'},'kind':'Node','apiVersion':'v1'}"), 1);
  EXPECT_EQ(index("{'apiVersion':'v1','kind':'Secret','metadata':{'name':'x'}}"), 2);
  EXPECT_EQ(index("{'apiVersion':'acme.com/v1','kind':'Pod','metadata':{'name':'x'}}"), 2);
  EXPECT_EQ(index("{'apiVersion':'v1','k\\u0069nd':'Pod','metadata':{'name':'x'}}"), -1);
  EXPECT_EQ(index("{'apiVersion':'v1','kind':'P\\u006fd','metadata':{'name':'x'}}"), 0);
  EXPECT_EQ(index("{'apiVersion':'a.com/v1','kind':'Th\\u0069ng','metadata':{'name':'x'}}"), 2);
}

TEST_F(DecodeObjectTest, ErrorsNameThePathAndTheValue) {
  EXPECT_EQ(Error("{'kind':'A','metadata':{'name':'x'}}"),
            "/apiVersion: expected the object's type, found nothing");
  EXPECT_EQ(Error("{'apiVersion':'v1','metadata':{'name':'x'}}"),
            "/kind: expected the object's type, found nothing");
  EXPECT_EQ(Error("{'apiVersion':'v1','kind':'A','metadata':{}}"),
            "/metadata/name: expected a name, found nothing");
  EXPECT_EQ(Error("{'apiVersion':'v1','kind':3,'metadata':{}}"),
            "/kind: expected a string, found 3");
}

class DecodeTreeTest : public DecodeObjectTest {
 protected:
  // Decodes an object with the member `d`, and returns that member or the error.
  std::string Tree(std::string_view text) {
    const std::string whole =
        "{'apiVersion':'v1','kind':'A','metadata':{'name':'x'},'d':" + std::string(text) + "}";
    const Result<ObjectRef> object = decoder_.DecodeObject(Json(whole));
    if (!object.ok()) return std::string(object.status().message());
    return Show(ValuesService()->get((*object)->value(), AsStr("d")));
  }
};

TEST_F(DecodeTreeTest, KeepsValuesUnchanged) {
  constexpr std::pair<const char*, const char*> kTable[] = {
      {"true", "true"},
      {"false", "false"},
      {"null", "absent"},
      {"[ null ]", "[null]"},
      {"0", "0"},
      {"-7", "-7"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775808", "9223372036854775808f"},
      {"18446744073709551616", "18446744073709551616f"},
      {"1e3", "1000f"},
      {"-0.25", "-0.25f"},
      {"''", "''"},
      {"'a\\u00e9\\n'", "'a\xc3\xa9\n'"},
      {"[]", "[]"},
      {"{}", "{}"},
      {"{'b':1,'a':{'':[2,'c']}}", "{'b':1,'a':{'':[2,'c']}}"},
  };
  for (const auto& [text, tree] : kTable) EXPECT_EQ(Tree(text), tree) << text;
}

TEST_F(DecodeTreeTest, KeepsTheLastValueOfADuplicateKey) {
  EXPECT_EQ(Tree("{'a':1,'b':2,'a':3,'c':4,'a':5}"), "{'b':2,'c':4,'a':5}");
  EXPECT_EQ(Tree("{'a':1,'a':null}"), "{'a':1}");
  std::string many = "{'k7':'first'";
  for (int32_t i = 0; i < 40; ++i) {
    many += ",'k" + std::to_string(i % 20) + "':" + std::to_string(i);
  }
  std::string expected;
  for (int32_t i = 20; i < 40; ++i) {
    expected +=
        (expected.empty() ? "{'k" : ",'k") + std::to_string(i % 20) + "':" + std::to_string(i);
  }
  EXPECT_EQ(Tree(many + "}"), expected + "}");
}

TEST_F(DecodeTreeTest, SkipsOnlyManagedFieldsOfTheMetadata) {
  const Result<ObjectRef> object = decoder_.DecodeObject(
      Json("{'managedFields':1,'apiVersion':'v1','kind':'A','metadata':{'managedFields':[{'a':{}}],"
           "'name':'x','annotations':{'managedFields':'2'}},'spec':{'managedFields':3}}"));
  ASSERT_TRUE(object.ok()) << object.status().ToString();
  EXPECT_EQ(Show((*object)->value()),
            "{'managedFields':1,'apiVersion':'v1','kind':'A','metadata':{'name':'x',"
            "'annotations':{'managedFields':'2'}},'spec':{'managedFields':3}}");
}

TEST_F(DecodeTreeTest, ErrorsNameThePathAndTheValue) {
  EXPECT_EQ(Tree("tru"), "/d: expected true or false, found tru");
  EXPECT_EQ(Tree("[0,{'a/b':nul}]"), "/d/1/a~1b: expected a JSON value, found nul");
  EXPECT_EQ(Tree("{'a':01}"), "/d/a: expected a JSON value, found 01");
  EXPECT_EQ(Tree("1e999"), "/d: expected a JSON value, found 1e999");
  EXPECT_EQ(Tree("'\\ud800'").substr(0, 19), "/d: malformed JSON:");
  EXPECT_EQ(Tree("{'a' 1}").substr(0, 19), "/d: malformed JSON:");
  const auto nested = [](size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(Tree(nested(63)), nested(63)) << "the object itself is one level";
  std::string path = "/d";
  for (int32_t i = 0; i < 63; ++i) path += "/0";
  EXPECT_EQ(Tree(nested(64)), path + ": nested deeper than 64 levels");
  EXPECT_EQ(Tree(nested(100'000)), path + ": nested deeper than 64 levels");
}

}  // namespace
}  // namespace berth::host
