package main

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// etcdEndpoint returns the unix socket of etcd. It is relative to the root of the file system; the
// folder must be short enough for a socket, at most about 100 bytes.
func etcdEndpoint(dir string) string { return "unix://" + filepath.Join(dir, "etcd.sock") }

// startEtcd starts etcd with its data in the folder. It does not call fsync: the data survives the
// end of the process, but not of the machine.
func startEtcd(dir string) (*embed.Etcd, error) {
	clients, err := url.Parse(etcdEndpoint(dir))
	if err != nil {
		return nil, err
	}
	peers, err := url.Parse("unix://" + filepath.Join(dir, "peer.sock"))
	if err != nil {
		return nil, err
	}
	// A member must announce addresses with a port. Etcd has one member and kube-apiserver is given the
	// socket, so that they are never used.
	announced, err := url.Parse("http://127.0.0.1:1")
	if err != nil {
		return nil, err
	}
	config := embed.NewConfig()
	config.Name = "e2e"
	config.Dir = filepath.Join(dir, "etcd")
	config.ListenClientUrls = []url.URL{*clients}
	config.AdvertiseClientUrls = []url.URL{*announced}
	config.ListenPeerUrls = []url.URL{*peers}
	config.AdvertisePeerUrls = []url.URL{*announced}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		return nil, err
	case <-time.After(30 * time.Second):
		etcd.Close()
		return nil, errors.New("etcd was not ready within 30 seconds")
	}
}

// compactEtcd removes all revisions but the last one. A client that continues a watch from an older
// revision is refused with status 410.
func compactEtcd(ctx context.Context, etcd *embed.Etcd) error {
	_, err := etcd.Server.Compact(ctx, &etcdserverpb.CompactionRequest{
		Revision: etcd.Server.KV().Rev(), Physical: true})
	return err
}
