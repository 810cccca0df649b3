#include "host/api/foreign_text.h"

#include <string_view>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

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

TEST(ForeignTextTest, DistinguishesPlainTextFromYaml) {
  for (const char* text : {"just text", "web-0   1/1     Running   0   3d\n", "pod/web-0\nnode/a\n",
                           "# note\n\nHello\n", "2026-01-01 10:00:00 INFO host: started\n",
                           "No resources found in default namespace.\n", "-x", "a:b\n"}) {
    EXPECT_TRUE(IsPlainText(text)) << text;
  }
  for (const char* text :
       {"", "# only a comment\n", "apiVersion: v1\n", "kind:\n", "kind : Pod\n", "kind:\tPod\n",
        "---\njust text\n", "--- {}\n", "- a\n", "-\n", "{}\n", "[]", "\"kind\": Pod\n", "'a': b\n",
        "&a\nkind: Pod\n", "!!map\nkind: Pod\n", "? kind\n: Pod\n", "%YAML 1.1\n---\n",
        "a.b/c: d"}) {
    EXPECT_FALSE(IsPlainText(text)) << text;
  }
}

}  // namespace
}  // namespace berth::host
