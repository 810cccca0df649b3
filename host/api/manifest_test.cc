#include "host/api/manifest.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode_testing.h"
#include "host/api/json_syntax.h"

namespace berth::host {
namespace {

class ManifestTest : public DecodeTest {
 protected:
  // Returns the keys of the objects, followed by the error if there was one.
  std::string Read(std::string_view text, std::string_view file = "f") {
    std::string keys;
    const Status status =
        ReadManifest(text, file, decoder_, [&](AnyObject object, std::string_view) {
          static constexpr const char* kKinds[] = {"pod ", "node ", ""};
          keys.append(kKinds[object.index()]);
          if (const auto* other = std::get_if<ObjectRef>(&object)) {
            keys.append((*other)->kind()).append(" ");
          }
          keys.append(Base(object).Key()).append("; ");
          return Status::Ok();
        });
    return status.ok() ? keys : keys + std::string(status.message());
  }
  std::string ReadJson(std::string_view text) { return Read(Json(text), "f.json"); }
};

constexpr const char* kPodA = "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a'}}";
constexpr const char* kNodeB = "{'apiVersion':'v1','kind':'Node','metadata':{'name':'b'}}";

TEST_F(ManifestTest, ReportsTypedLists) {
  const auto lists = [this](std::string text) {
    std::string kinds;
    text.append(kManifestPadding, '\0');
    const std::string_view padded =
        std::string_view(text).substr(0, text.size() - kManifestPadding);
    const Status status = ReadPaddedManifest(
        padded, "f.json", decoder_, [](const AnyObject&, std::string_view) { return Status::Ok(); },
        [&kinds](const std::string& kind) { kinds += kind + " "; });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return kinds;
  };
  EXPECT_EQ(lists(Json("{'apiVersion':'v1','kind':'NamespaceList','items':[]}")), "v1/Namespace ");
  EXPECT_EQ(lists(Json("{'apiVersion':'apps/v1','kind':'ReplicaSetList','items':null}")),
            "apps/v1/ReplicaSet ");
  EXPECT_EQ(lists(Json("{'apiVersion':'v1','kind':'PodList','items':[{'metadata':{'name':'a'}}]}")),
            "v1/Pod ");
  EXPECT_EQ(lists(Json("{'apiVersion':'v1','kind':'List','items':[]}")), "");
  EXPECT_EQ(lists(Json("{'apiVersion':'a.io/v1','kind':'AllowList','metadata':{'name':'a'}}")), "")
      << "an object, because it has no items";
}

TEST_F(ManifestTest, ReadsOneObject) {
  EXPECT_EQ(ReadJson(kPodA), "pod default/a; ");
  EXPECT_EQ(ReadJson(std::string(" \n\t") + kNodeB + "\n\n"), "node b; ");
  EXPECT_EQ(Read("\xef\xbb\xbf" + Json(kPodA)), "pod default/a; ");
}

TEST_F(ManifestTest, ReadsASequenceOfDocuments) {
  EXPECT_EQ(ReadJson(std::string(kPodA) + kNodeB), "pod default/a; node b; ");
  EXPECT_EQ(ReadJson(std::string(kPodA) + "\n" + kNodeB + "\n" + kPodA + "\n"),
            "pod default/a; node b; pod default/a; ");
  std::string lines;
  std::string expected;
  for (int32_t i = 0; i < 300; ++i) {
    const std::string name = "p" + std::to_string(i);
    lines += "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" + name + "'}}\r\n";
    expected += "pod default/" + name + "; ";
  }
  EXPECT_EQ(ReadJson(lines), expected);
}

TEST_F(ManifestTest, ReadsLists) {
  const std::string items = std::string("'items':[") + kPodA + "," + kNodeB + "]";
  EXPECT_EQ(ReadJson("{'apiVersion':'v1','kind':'List'," + items + "}"), "pod default/a; node b; ");
  EXPECT_EQ(ReadJson("{'apiVersion':'v1'," + items + ",'kind':'List','metadata':{}}"),
            "pod default/a; node b; ")
      << "the order of fields that kubectl writes";
  EXPECT_EQ(ReadJson("{'kind':'PodList','apiVersion':'v1','metadata':{'resourceVersion':'7'},"
                     "'items':[{'metadata':{'name':'x'}},{'metadata':{'name':'y'}}]}"),
            "pod default/x; pod default/y; ");
  EXPECT_EQ(ReadJson("{'kind':'NodeList','apiVersion':'v1','items':[{'metadata':{'name':'x'}}]}"),
            "node x; ");
  EXPECT_EQ(ReadJson("{'kind':'CSINodeList','apiVersion':'storage.k8s.io/v1',"
                     "'items':[{'metadata':{'name':'x'}}]}"),
            "storage.k8s.io/v1/CSINode x; ");
  EXPECT_EQ(ReadJson("{'kind':'PodList','apiVersion':'v1','items':[]}"), "");
  EXPECT_EQ(ReadJson("{'kind':'PodList','apiVersion':'v1','items':null}"), "");
  EXPECT_EQ(ReadJson("{'kind':'AllowList','apiVersion':'a.com/v1','metadata':{'name':'x'}}"),
            "a.com/v1/AllowList x; ")
      << "an object without items is not a list";
}

TEST_F(ManifestTest, ReadsYaml) {
  EXPECT_EQ(Read("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n---\n# nothing\n---\n"
                 "apiVersion: v1\nkind: Node\nmetadata:\n  name: b\n"),
            "pod default/a; node b; ");
  EXPECT_EQ(Read("---\napiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  apiVersion: v1\n"
                 "  metadata: {name: a}\n- kind: Node\n  apiVersion: v1\n  metadata: {name: b}\n"),
            "pod default/a; node b; ");
}

// A text that begins with a brace may be JSON, or YAML in flow style.
TEST_F(ManifestTest, TheNameAndTheSyntaxTellTheFormat) {
  const std::string flow = "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n";
  const std::string two = flow + "---\n" + Json(kNodeB) + "\n";
  const std::string json = Json(kPodA) + "\n";
  const std::string no_quotes = ":1: expected a key in quotes, found 'a'";
  const struct {
    const char* name;
    std::string text;
    const char* file;
    std::string want;
  } cases[] = {
      {"YAML in flow style", flow, "f.yaml", "pod default/a; "},
      {"another suffix of YAML", flow, "f.yml", "pod default/a; "},
      {"large letters", flow, "F.YAML", "pod default/a; "},
      {"two documents", two, "f.yaml", "pod default/a; node b; "},
      {"a comment after the brace", "{ # a pod\n" + flow.substr(1), "f.yaml", "pod default/a; "},
      {"JSON is YAML", json, "f.yaml", "pod default/a; "},
      {"JSON lines in a YAML file", json + json, "f.yaml", "pod default/a; pod default/a; "},
      {"JSON stays JSON", flow, "f.json", "f.json" + no_quotes},
      {"JSON on standard input", json + json, "standard input", "pod default/a; pod default/a; "},
      {"YAML on standard input", two, "standard input", "pod default/a; node b; "},
      {"a file without a suffix", flow, "f", "pod default/a; "},
      {"JSON documents of YAML on standard input", json + "---\n" + json, "standard input",
       "pod default/a; pod default/a; "},
      {"a list in JSON on standard input", "[ " + json + "]", "standard input",
       "standard input:1: /: expected an object, found an array"},
      {"a key in quotes makes it JSON", "{\"apiVersion\": v1}", "standard input",
       "standard input:1: expected a JSON value, found 'v'"},
      {"neither JSON nor YAML", "{apiVersion: v1,\n", "standard input",
       "standard input" + no_quotes},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Read(c.text, c.file), c.want);
  }
  EXPECT_EQ(Read("{apiVersion: v1,\n", "f.yaml").substr(0, 13), "f.yaml: line ");
}

TEST_F(ManifestTest, ErrorsNameThePathAndTheValue) {
  struct Case {
    const char* text;
    const char* expected;
  };
  const Case cases[] = {
      {"{'kind':'NodeList','apiVersion':'v1','items':[{'metadata':{'name':'x'}},"
       "{'metadata':{'name':'y'},'spec':{'taints':[{'effect':'Foo'}]}}]}",
       "node x; f.json:1: Node y: /items/1/spec/taints/0/effect: expected NoSchedule, "
       "PreferNoSchedule or NoExecute, found \"Foo\""},
      {"{'kind':'PodList','apiVersion':'v1','items':[null]}",
       "f.json:1: Pod: /items/0: expected an object, found null"},
      {"{'kind':'PodList','apiVersion':'v1','items':\n{}}",
       "f.json:2: PodList: /items: expected an array, found an object"},
      {"{'kind':'PodList','apiVersion':'v1','items':[\n{'kind':'Node','metadata':{'name':'x'}}]}",
       "f.json:2: Node x: /items/0/kind: expected \"Pod\", found \"Node\""},
      {"{'kind':'List','apiVersion':'v1','items':[{'metadata':{'name':'x'}}]}",
       "f.json:1: x: /items/0/kind: expected the object's type, found nothing"},
      {"{'apiVersion':'v1'}", "f.json:1: /kind: expected the object's type, found nothing"},
      {"{'apiVersion':'v1','kind':'Pod',\n'metadata':{}}",
       "f.json:2: Pod: /metadata/name: expected a name, found nothing"},
      {"[]", "f.json:1: /: expected an object, found an array"},
      {"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a'}}\n\n"
       "{'apiVersion':'v1','kind':'Pod','metadata':{\n'name':3}}\n",
       "pod default/a; f.json:4: Pod: /metadata/name: expected a string, found 3"},
      {"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a'}}\n17\n",
       "pod default/a; f.json:2: /: expected an object, found another JSON value"},
  };
  for (const Case& c : cases) EXPECT_EQ(ReadJson(c.text), c.expected) << c.text;
}

// One item with each kind of error, and what the messages contain.
TEST_F(ManifestTest, ReportsErrorsOfAllItemsAndReadsOthers) {
  struct Case {
    const char* item;
    const char* error;
  };
  const Case cases[] = {
      {"null", "Pod: /items/1: expected an object, found null"},
      {"7", "Pod: /items/1: expected an object, found 7"},
      {"'x'", "Pod: /items/1: expected an object, found \"x\""},
      {"[{'metadata':{'name':'x'}}]", "Pod: /items/1: expected an object, found an array"},
      {"{}", "Pod: /items/1/metadata/name: expected a name, found nothing"},
      {"{'metadata':7,'spec':{'nodeName':'n'}}",
       "Pod: /items/1/metadata: expected an object, found 7"},
      {"{'metadata':{'name':[],'uid':'u'},'spec':{}}",
       "Pod: /items/1/metadata/name: expected a string, found an array"},
      {"{'metadata':{'name':'x','labels':{'k':['v']}}}",
       "Pod default/x: /items/1/metadata/labels/k: expected a string, found an array"},
      {"{'metadata':{'name':'x','namespace':'web'},'spec':{'priority':1.5}}",
       "Pod web/x: /items/1/spec/priority: expected an integer, found 1.5"},
      {"{'spec':{'containers':[{'name':'c'},{'resources':{'requests':{'cpu':'abc'}}}]},"
       "'metadata':{'name':'x'}}",
       "Pod default/x: /items/1/spec/containers/1/resources/requests/cpu: quantity \"abc\": "
       "expected a number with an optional suffix, such as 2, 100m, 1.5Gi or 12e6"},
      {"{'spec':{'containers':{}},'metadata':{'name':'x'}}",
       "Pod default/x: /items/1/spec/containers: expected an array, found an object"},
      {"{'kind':'Node','metadata':{'name':'x'},'status':{'images':[[]]}}",
       "Node x: /items/1/kind: expected \"Pod\", found \"Node\""},
      {"{'metadata':{'name':'x'},'spec':{'tolerations':[{'operator':'Is'},{}]}}",
       "Pod default/x: /items/1/spec/tolerations/0/operator: expected Equal, Exists, Gt or Lt, "
       "found \"Is\""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(
        ReadJson(std::string("{'kind':'PodList','apiVersion':'v1','items':[\n"
                             "{'metadata':{'name':'a'}},\n") +
                 c.item + ",\n{'metadata':{'name':'b'}},\n{'metadata':{}}],\n'metadata':{}}\n" +
                 kNodeB),
        std::string("pod default/a; pod default/b; node b; f.json:3: ") + c.error +
            "\nf.json:5: Pod: /items/3/metadata/name: expected a name, found nothing");
  }
}

TEST_F(ManifestTest, ReportsTheErrorsOfAllDocuments) {
  EXPECT_EQ(ReadJson("{'apiVersion':'v1','kind':'Pod','metadata':{'name':7}}\n"
                     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'}} []\n"
                     "{'apiVersion':'v1','kind':'Rack','data':{'x':[1]}} {'a':1}"),
            "v1/ConfigMap c; f.json:1: Pod: /metadata/name: expected a string, found 7\n"
            "f.json:2: /: expected an object, found an array\n"
            "f.json:3: Rack: /metadata/name: expected a name, found nothing\n"
            "f.json:3: /kind: expected the object's type, found nothing");
  EXPECT_EQ(Read("kind: Pod\napiVersion: v1\nmetadata:\n  name: [7]\n---\nkind: Node\n"
                 "apiVersion: v1\nmetadata: {name: node}\n---\nkind: List\napiVersion: v1\nitems:\n"
                 "- kind: Pod\n  apiVersion: v1\n  metadata: {name: a, namespace: web}\n  spec:\n"
                 "    priority: high\n- kind: Node\n",
                 "f.yaml"),
            "node node; f.yaml:4: Pod: /metadata/name: expected a string, found an array\n"
            "f.yaml:17: Pod web/a: /items/0/spec/priority: expected an integer, found \"high\"\n"
            "f.yaml:18: Node: /items/1/apiVersion: expected the object's type, found nothing");
}

// After an error the parser must not read beyond a document whose brackets do not match.
TEST_F(ManifestTest, StopsAtFirstErrorOfAMalformedDocument) {
  const std::string list = "{'kind':'PodList','apiVersion':'v1','items':[";
  const std::string after_node = std::string(kNodeB) + "\n" + list;
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {list + "{},}", "f.json:1: expected a JSON value, found '}'"},
           {list + "7}\n,,,", "f.json:1: expected ',' or ']', found '}'"},
           {after_node + ",},},,,,,", "node b; f.json:2: expected a JSON value, found ','"},
           {after_node + "},},},,,,,", "node b; f.json:2: expected a JSON value, found '}'"},
           {after_node + "7},,7,,,,,", "node b; f.json:2: expected ',' or ']', found '}'"}}) {
    EXPECT_EQ(ReadJson(text), error) << text;
  }
}

TEST_F(ManifestTest, ReportsTheFirstTwentyErrors) {
  const auto list = [](int32_t count) {
    std::string items;
    for (int32_t i = 0; i < count; ++i) items += (i == 0 ? "\n{" : ",\n{") + std::string("}");
    return "{'kind':'PodList','apiVersion':'v1','items':[" + items + "]}";
  };
  constexpr const char* kLast =
      "f.json:21: Pod: /items/19/metadata/name: expected a name, found nothing";
  const std::string twenty = ReadJson(list(20));
  EXPECT_EQ(twenty.substr(twenty.rfind("f.json:")), kLast);
  const std::string one_more = ReadJson(list(21));
  EXPECT_EQ(one_more.substr(one_more.rfind("f.json:")),
            std::string(kLast) + "\n... and 1 more error in f.json");
  const std::string many = ReadJson(list(1000));
  EXPECT_EQ(many.substr(many.rfind("f.json:")),
            std::string(kLast) + "\n... and 980 more errors in f.json");
  // A syntax error replaces the errors of its own document only.
  const std::string malformed = ReadJson(list(30) + "\n{'kind':}");
  EXPECT_EQ(malformed.substr(malformed.rfind("f.json:")),
            std::string(kLast) + "\n... and 11 more errors in f.json");
  EXPECT_EQ(ReadJson(list(2) + "\n{'kind':'Pod','metadata':}"),
            "f.json:2: Pod: /items/0/metadata/name: expected a name, found nothing\n"
            "f.json:3: Pod: /items/1/metadata/name: expected a name, found nothing\n"
            "f.json:4: expected a JSON value, found '}'");
  EXPECT_EQ(ReadJson("{'kind':'PodList','apiVersion':'v1','items':[{},\n{'metadata'}]}"),
            "f.json:2: expected ':', found '}'");
}

TEST_F(ManifestTest, SyntaxErrorsNameTheLine) {
  struct Case {
    const char* text;
    const char* expected;
  };
  const Case cases[] = {
      {"{\n 'kind': 'Pod',\n 'apiVersion': 'v1'\n 'metadata': {}\n}",
       "f.json:4: expected ',' or '}', found '\"'"},
      {"{\n 'kind':'Pod','apiVersion':'v1','metadata':{'name':'a'}\n",
       "f.json:3: expected ',' or '}', found the end of the text"},
      {"{'kind':'PodList','apiVersion':'v1','items':[\n{'metadata':{'name':'a'}}\n{}]}",
       "f.json:3: expected ',' or ']', found '{'"},
      {"{'kind':'Pod\n",
       "f.json:1: expected a character that is allowed in a string, found byte 10"},
      {"{'kind':'Pod}", "f.json:1: the string has no closing quote"},
  };
  for (const Case& c : cases) {
    const std::string found = ReadJson(c.text);
    EXPECT_EQ(found.substr(found.rfind("f.json")), c.expected) << c.text;
  }
  EXPECT_EQ(ReadJson(std::string(kPodA) + "\n" + kPodA + "\n{'kind':}\n"),
            "pod default/a; pod default/a; f.json:3: expected a JSON value, found '}'");
  EXPECT_EQ(Read("{\n\"a\":\"\xff\"}", "x"), "x:2: expected UTF-8 text");
}

TEST_F(ManifestTest, ErrorsInYamlNameTheLine) {
  EXPECT_EQ(Read("a: [\n", "f.yaml").substr(0, 13), "f.yaml: line ");
  EXPECT_EQ(Read("kind: Pod\napiVersion: v1\nmetadata: {name: a}\n---\n\nkind: Pod\n"
                 "apiVersion: v1\nmetadata: {name: a}\nspec: {priority: high}\n",
                 "f.yaml"),
            "pod default/a; f.yaml:9: Pod default/a: /spec/priority: expected an integer, found "
            "\"high\"");
  EXPECT_EQ(Read("---\njust text\n", "f.yaml"),
            "f.yaml:2: /: expected an object, found another JSON value");
}

TEST_F(ManifestTest, RecognizesTextsThatAreNoObjects) {
  struct Case {
    const char* text;
    const char* found;
  };
  const Case cases[] = {
      {"\xef\xbb\xbf<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n",
       "an HTML page"},
      {"NAME    READY   STATUS    RESTARTS   AGE\nweb-0   1/1     Running   0          3d\n",
       "a table that kubectl prints"},
      {"Name:         web-0\nNamespace:    default\n", "the output of kubectl describe"},
      {"Error from server (NotFound): pods \"web\" not found\n", "an error message of kubectl"},
      {"\x1f\x8b\x08", "a gzip file"},
      {"just text\n", "plain text"},
      {"2026-01-01 10:00:00 INFO host: started\n", "plain text"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Read(c.text, "f.txt"),
              std::string("f.txt: this looks like ") + c.found +
                  "; expected Kubernetes objects as YAML or JSON: use kubectl get -o json");
  }
}

TEST_F(ManifestTest, RejectsEmptyTextsAndUtf16) {
  for (const char* text : {"", " \n\t ", "\xef\xbb\xbf", "\xef\xbb\xbf\n"}) {
    EXPECT_EQ(Read(text, "f"), "f: expected objects, found an empty text");
  }
  EXPECT_EQ(Read("# only a comment\n", "f"), "f: expected objects, found no document");
  EXPECT_EQ(Read(std::string_view("\xff\xfe{\0", 4), "f"), "f: expected UTF-8, found UTF-16");
}

TEST_F(ManifestTest, ReportsErrorsOfTheSink) {
  int32_t count = 0;
  const Status status = ReadManifest(
      Json(std::string("{'apiVersion':'v1','kind':'List','items':[") + kPodA + ",\n" + kNodeB +
           "]}"),
      "f", decoder_, [&](const AnyObject&, std::string_view) {
        return ++count == 1 ? Status::AlreadyExists("/metadata/name: \"a\" already exists")
                            : Status::NotFound("no room");
      });
  EXPECT_EQ(count, 2);
  EXPECT_EQ(status.code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(status.message(),
            "f:1: Pod default/a: /items/0/metadata/name: \"a\" already exists\n"
            "f:2: Node b: /items/1: no room");
}

TEST_F(ManifestTest, LimitsSizeOfItemsButNotTheirNumber) {
  DecodeOptions options;
  options.max_object_bytes = 100;
  options.max_elements = 4;
  Decoder decoder(interner_, options);
  const auto read = [&](const std::string& items) {
    return ReadManifest(Json("{'kind':'PodList','apiVersion':'v1','items':[" + items + "]}"), "f",
                        decoder, [](const AnyObject&, std::string_view) { return Status::Ok(); })
        .ToString();
  };
  std::string items = "{'metadata':{'name':'p'}}";
  for (int32_t i = 0; i < 20; ++i) items += ",{'metadata':{'name':'p'}}";
  EXPECT_EQ(read(items), "Ok");
  const std::string padding(100 - 33, 'x');
  EXPECT_EQ(read("{'metadata':{'name':'p'},'x':'" + padding + "'}"), "Ok");
  EXPECT_EQ(
      read("{'metadata':{'name':'p'},'x':'" + padding + "xyz'}"),
      "OutOfRange: f:1: Pod default/p: /items/0: expected an object of at most 100 bytes, found "
      "102 bytes");
}

TEST(ForeignTextTest, RecognizesTexts) {
  struct Case {
    std::string_view text;
    std::string_view recognized;
  };
  const Case cases[] = {
      {"<!DOCTYPE html>\n<html><body>404</body></html>\n", "an HTML page"},
      {"\n  <HTML lang=\"en\">", "an HTML page"},
      {"<?xml version=\"1.0\"?>\n<html xmlns=\"x\">", "an HTML page"},
      {"<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>", "an XML document"},
      {"\xef\xbb\xbf<html>", "an HTML page"},
      {"\x1f\x8b\x08", "a gzip file"},
      {"NAME    READY   STATUS    RESTARTS       AGE\nweb-0   1/1     Running   0   3d\n",
       "a table that kubectl prints"},
      {"NAMESPACE   NAME   READY\r\n", "a table that kubectl prints"},
      {"NAME   CPU(cores)   CPU%   MEMORY(bytes)\n", "a table that kubectl prints"},
      {"NAME   ready\n", ""},
      {"NAME   STATUS   NOMINATED NODE   READINESS GATES\n", "a table that kubectl prints"},
      {"LAST SEEN   TYPE     REASON   OBJECT   MESSAGE\n", "a table that kubectl prints"},
      {"NAME\nweb-0\n", ""},
      {"NAME : web\n", ""},
      {"NAMES   READY\n", ""},
      {"Name:         web-0\nNamespace:    default\nPriority:     0\n",
       "the output of kubectl describe"},
      {"Name:         node-a\nRoles:        <none>\n", "the output of kubectl describe"},
      {"Name:         web-0\n", ""},
      {"Error from server (Forbidden): pods is forbidden", "an error message of kubectl"},
      {"error: You must be logged in to the server", "an error message of kubectl"},
      {"The connection to the server localhost:8080 was refused", "an error message of kubectl"},
      {"# comment\napiVersion: v1\n", ""},
      {"<<: *base\n", ""},
      {"just text", ""},
      {"{}", ""},
      {"", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(RecognizeForeignText(c.text), c.recognized) << c.text;
}

TEST_F(ManifestTest, DistinguishesPlainTextFromYaml) {
  constexpr std::string_view kPlain = "f: this looks like plain text;";

  for (const char* text : {"just text", "web-0   1/1     Running   0   3d\n", "pod/web-0\nnode/a\n",
                           "# note\n\nHello\n", "2026-01-01 10:00:00 INFO host: started\n",
                           "No resources found in default namespace.\n", "-x", "a:b\n"}) {
    EXPECT_EQ(Read(text).substr(0, kPlain.size()), kPlain) << text;
  }
  for (const char* text :
       {"", "# only a comment\n", "apiVersion: v1\n", "kind:\n", "kind : Pod\n", "kind:\tPod\n",
        "---\njust text\n", "--- {}\n", "- a\n", "-\n", "{}\n", "[]", "\"kind\": Pod\n", "'a': b\n",
        "&a\nkind: Pod\n", "!!map\nkind: Pod\n", "? kind\n: Pod\n", "%YAML 1.1\n---\n",
        "a.b/c: d"}) {
    EXPECT_NE(Read(text).substr(0, kPlain.size()), kPlain) << text;
  }
}

TEST_F(ManifestTest, PassesTheTextOfEachObject) {
  const std::string files[] = {
      Json("{'kind':'PodList','apiVersion':'v1','items':[{'metadata':{'name':'a'}},"
           "{'metadata':{'name':'b'}}]}\n{'kind':'Pod','apiVersion':'v1','metadata':{'name':'c'}}"),
      "kind: List\napiVersion: v1\nitems:\n"
      "- {kind: Pod, apiVersion: v1, metadata: {name: a}}\n"
      "- {kind: Pod, apiVersion: v1, metadata: {name: b}}\n"
      "---\nkind: Pod\napiVersion: v1\nmetadata:\n  name: c\n"};
  for (const std::string& text : files) {
    std::string names;
    const Status status =
        ReadManifest(text, "f", decoder_, [&](const AnyObject& object, std::string_view json) {
          const std::string_view own = json.substr(0, EndOfValue(json));
          EXPECT_NE(own.find("\"name\":\"" + std::string(Base(object).name())), own.npos) << own;
          EXPECT_EQ(std::ranges::count(own, '{'), 2) << own;
          names += Base(object).name();
          return Status();
        });
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(names, "abc");
  }
}

}  // namespace
}  // namespace berth::host
