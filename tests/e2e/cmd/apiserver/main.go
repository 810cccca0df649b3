// Command apiserver runs etcd and kube-apiserver in one process, on a loopback address, with TLS and
// RBAC. It prints one JSON object when it is ready, and runs until SIGTERM, SIGINT, or until its
// standard input ends, so that it never outlives the test that started it.
//
//	apiserver --dir DIR [--audit] [--compact] [FLAG...]
//
// DIR keeps the data, the certificates, the port and the kubeconfigs: a second start with the same
// DIR is a restart of the same cluster on the same port. --compact removes the history of all
// objects from etcd before kube-apiserver starts. The flags are added to those of kube-apiserver.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"

	"berth.test/e2e/internal/pki"
)

// ready is what the command prints on standard output.
type ready struct {
	Server      string            `json:"server"`
	Admin       string            `json:"admin"`       // A kubeconfig of the group system:masters.
	Kubeconfigs map[string]string `json:"kubeconfigs"` // By service account.
	Tokens      map[string]string `json:"tokens"`      // Files with the tokens.
	Audit       string            `json:"audit,omitempty"`
	Etcd        string            `json:"etcd"`
	PID         int               `json:"pid"`
}

func main() {
	dir := flag.String("dir", "", "the folder of the cluster")
	audit := flag.Bool("audit", false, "write an audit log of all requests")
	compact := flag.Bool("compact", false, "remove the history of all objects before the start")
	flag.Parse()
	if *dir == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*dir, *audit, *compact, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

func run(dir string, audit, compact bool, more []string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err := makeFiles(dir); err != nil {
		return err
	}
	port, err := choosePort(filepath.Join(dir, "port"))
	if err != nil {
		return err
	}
	etcd, err := startEtcd(dir)
	if err != nil {
		return err
	}
	if compact {
		if err := compactEtcd(ctx, etcd); err != nil {
			return err
		}
	}

	failed := make(chan error, 1)
	go func() {
		command := apiserver.NewAPIServerCommand()
		command.SetArgs(append(flags(dir, port, etcdEndpoint(dir), audit), more...))
		failed <- command.ExecuteContext(context.Background())
	}()
	result, err := bootstrap(ctx, dir, port, failed)
	if err != nil {
		return err
	}
	result.Etcd = etcdEndpoint(dir)
	if audit {
		result.Audit = filepath.Join(dir, "audit.jsonl")
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		// The process ends without closing the servers: kube-apiserver would wait for its watches,
		// and etcd for its clients. A crash of the process does not lose data.
		return nil
	case err := <-failed:
		return fmt.Errorf("kube-apiserver ended: %w", err)
	}
}

// makeFiles writes the certificates once.
func makeFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := func(file string) string { return filepath.Join(dir, file) }
	if _, err := os.Stat(name("ca.crt")); err == nil {
		return nil
	}
	authority, err := pki.NewAuthority("berth-e2e")
	if err != nil {
		return err
	}
	server, err := authority.Server()
	if err != nil {
		return err
	}
	admin, err := authority.Client("berth-e2e-admin", "system:masters")
	if err != nil {
		return err
	}
	accounts, err := pki.NewKey()
	if err != nil {
		return err
	}
	policy := "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n" +
		"rules:\n- {level: Request, verbs: [create], resources: [{group: \"\", resources: [pods/binding]}]}\n" +
		"- {level: Metadata}\n"
	// ca.crt is last: its presence means that everything else was written.
	if err := pki.WriteAll(map[string][]byte{
		name("server.crt"): server.Certificate, name("server.key"): server.Key,
		name("admin.crt"): admin.Certificate, name("admin.key"): admin.Key,
		name("accounts.key"): accounts, name("audit-policy.yaml"): []byte(policy),
	}); err != nil {
		return err
	}
	return pki.WriteAll(map[string][]byte{name("ca.crt"): authority.PEM})
}

// choosePort returns the port in the file, or a free one, which it writes there.
func choosePort(file string) (int, error) {
	if text, err := os.ReadFile(file); err == nil {
		return strconv.Atoi(strings.TrimSpace(string(text)))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return 0, err
	}
	return port, os.WriteFile(file, []byte(strconv.Itoa(port)), 0o600)
}

func flags(dir string, port int, etcd string, audit bool) []string {
	name := func(file string) string { return filepath.Join(dir, file) }
	list := []string{
		"--etcd-servers=" + etcd,
		"--etcd-compaction-interval=0",
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + name("server.crt"),
		"--tls-private-key-file=" + name("server.key"),
		"--client-ca-file=" + name("ca.crt"),
		"--authorization-mode=RBAC",
		"--anonymous-auth=false",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + name("accounts.key"),
		"--service-account-signing-key-file=" + name("accounts.key"),
		// Pods of the tests have no account, and no controller clears the taints of new nodes.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--shutdown-delay-duration=0s",
		"--v=0",
	}
	if audit {
		list = append(list, "--audit-policy-file="+name("audit-policy.yaml"),
			"--audit-log-path="+name("audit.jsonl"), "--audit-log-mode=blocking")
	}
	return list
}

// bootstrap waits until the server is ready, and makes the accounts and kubeconfigs.
func bootstrap(ctx context.Context, dir string, port int, failed <-chan error) (*ready, error) {
	server := fmt.Sprintf("https://127.0.0.1:%d", port)
	admin := filepath.Join(dir, "admin.kubeconfig")
	if err := writeAdmin(dir, server, admin); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", admin)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case err := <-failed:
			return nil, fmt.Errorf("kube-apiserver ended: %w", err)
		case <-deadline:
			return nil, errors.New("kube-apiserver was not ready within two minutes")
		case <-time.After(100 * time.Millisecond):
		}
		body, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if err == nil && string(body) == "ok" {
			break
		}
	}
	result := &ready{Server: server, Admin: admin, PID: os.Getpid(),
		Kubeconfigs: map[string]string{}, Tokens: map[string]string{}}
	return result, makeAccounts(ctx, client, dir, server, result)
}
