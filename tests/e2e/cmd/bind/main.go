// Command bind measures how fast an API server executes bindings: it binds all pods of one
// schedulerName that have no node, with bare POST requests over HTTP/1.1 connections that it keeps,
// and without a scheduler. No scheduler can be faster than this on the same API server.
//
//	bind --kubeconfig FILE --scheduler NAME [--connections N]
//
// It prints {"pods": N, "seconds": S, "podsPerSecond": R}.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "a kubeconfig")
	scheduler := flag.String("scheduler", "", "the schedulerName of the pods")
	connections := flag.Int("connections", 64, "the number of connections")
	flag.Parse()
	if err := run(*kubeconfig, *scheduler, *connections); err != nil {
		fmt.Fprintln(os.Stderr, "bind:", err)
		os.Exit(1)
	}
}

// request is one POST of a binding.
type request struct {
	url  string
	body []byte
}

func run(kubeconfig, scheduler string, connections int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	list, err := requests(config, scheduler)
	if err != nil {
		return err
	}
	client, err := httpClient(config, connections)
	if err != nil {
		return err
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	failed := make(chan error, connections)
	began := time.Now()
	for range connections {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				if err := post(client, &list[i]); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wait.Wait()
	seconds := time.Since(began).Seconds()
	select {
	case err := <-failed:
		return err
	default:
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"pods": len(list), "seconds": seconds,
		"podsPerSecond": float64(len(list)) / seconds})
}

// requests makes the bodies of all requests before the measurement. The pods are spread over the
// nodes in turn.
func requests(config *rest.Config, scheduler string) ([]request, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	nodes, err := client.CoreV1().Nodes().List(context.Background(), meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := client.CoreV1().Pods("").List(context.Background(), meta.ListOptions{
		FieldSelector: "spec.nodeName=,spec.schedulerName=" + scheduler})
	if err != nil {
		return nil, err
	}
	if len(nodes.Items) == 0 || len(pods.Items) == 0 {
		return nil, fmt.Errorf("there are %d nodes and %d pods to bind", len(nodes.Items), len(pods.Items))
	}
	list := make([]request, len(pods.Items))
	for i := range pods.Items {
		pod := &pods.Items[i]
		body, err := json.Marshal(&core.Binding{
			TypeMeta:   meta.TypeMeta{APIVersion: "v1", Kind: "Binding"},
			ObjectMeta: meta.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target: core.ObjectReference{Kind: "Node",
				Name: nodes.Items[i%len(nodes.Items)].Name},
		})
		if err != nil {
			return nil, err
		}
		list[i] = request{body: body, url: fmt.Sprintf("%s/api/v1/namespaces/%s/pods/%s/binding",
			config.Host, pod.Namespace, pod.Name)}
	}
	return list, nil
}

// httpClient returns a client with the credentials of the kubeconfig, for HTTP/1.1 as Berth uses it.
func httpClient(config *rest.Config, connections int) (*http.Client, error) {
	security, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	transport, err := rest.HTTPWrappersForConfig(config, &http.Transport{
		TLSClientConfig:     security,
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{},
		MaxIdleConnsPerHost: connections,
		DisableCompression:  true,
	})
	return &http.Client{Transport: transport}, err
}

func post(client *http.Client, one *request) error {
	answer, err := client.Post(one.url, "application/json", bytes.NewReader(one.body))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err == nil && answer.StatusCode != http.StatusCreated {
		err = fmt.Errorf("%s: %s: %s", one.url, answer.Status, text)
	}
	return err
}
