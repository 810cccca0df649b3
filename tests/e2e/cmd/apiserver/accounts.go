package main

import (
	"context"
	"path/filepath"
	"time"

	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"berth.test/e2e/internal/pki"
)

const namespace = "kube-system"

// The service accounts, with the cluster roles that they are bound to. "berth-bare" has none: the
// tests of missing rules add what they need.
var accounts = map[string][]string{
	"berth":          {"system:kube-scheduler", "system:volume-scheduler", "berth-lease"},
	"berth-b":        {"system:kube-scheduler", "system:volume-scheduler", "berth-lease"},
	"berth-shadow":   {"berth-reader"},
	"berth-bare":     {},
	"kube-scheduler": {"system:kube-scheduler", "system:volume-scheduler", "berth-lease"},
}

var roles = []rbac.ClusterRole{
	{
		ObjectMeta: meta.ObjectMeta{Name: "berth-lease"},
		Rules: []rbac.PolicyRule{{APIGroups: []string{"coordination.k8s.io"},
			Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}}},
	},
	{
		ObjectMeta: meta.ObjectMeta{Name: "berth-reader"},
		Rules: []rbac.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"},
			Verbs: []string{"get", "list", "watch"}}},
	},
}

func writeAdmin(dir, server, path string) error {
	config := kubeconfig(dir, server)
	config.AuthInfos["user"].ClientCertificate = filepath.Join(dir, "admin.crt")
	config.AuthInfos["user"].ClientKey = filepath.Join(dir, "admin.key")
	return clientcmd.WriteToFile(*config, path)
}

func kubeconfig(dir, server string) *clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters["e2e"] = &clientcmdapi.Cluster{Server: server,
		CertificateAuthority: filepath.Join(dir, "ca.crt")}
	config.AuthInfos["user"] = &clientcmdapi.AuthInfo{}
	config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "user",
		Namespace: "default"}
	config.CurrentContext = "e2e"
	return config
}

// create runs a create call and accepts that the object exists, after a restart.
func create[T runtime.Object](_ T, err error) error {
	if errors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func makeAccounts(ctx context.Context, client kubernetes.Interface, dir, server string,
	result *ready) error {
	for _, name := range []string{"default", namespace} {
		space := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: name}}
		if err := create(client.CoreV1().Namespaces().Create(ctx, space, meta.CreateOptions{})); err != nil {
			return err
		}
	}
	for i := range roles {
		if err := create(client.RbacV1().ClusterRoles().Create(ctx, &roles[i], meta.CreateOptions{})); err != nil {
			return err
		}
	}
	for account, bound := range accounts {
		if err := makeAccount(ctx, client, account, bound); err != nil {
			return err
		}
		if err := writeToken(ctx, client, dir, server, account, result); err != nil {
			return err
		}
	}
	return nil
}

func makeAccount(ctx context.Context, client kubernetes.Interface, account string,
	bound []string) error {
	object := &core.ServiceAccount{ObjectMeta: meta.ObjectMeta{Name: account}}
	if err := create(client.CoreV1().ServiceAccounts(namespace).Create(ctx, object,
		meta.CreateOptions{})); err != nil {
		return err
	}
	for _, role := range bound {
		binding := &rbac.ClusterRoleBinding{
			ObjectMeta: meta.ObjectMeta{Name: account + "-" + role},
			RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbac.Subject{{Kind: rbac.ServiceAccountKind, Name: account,
				Namespace: namespace}},
		}
		if err := create(client.RbacV1().ClusterRoleBindings().Create(ctx, binding,
			meta.CreateOptions{})); err != nil {
			return err
		}
	}
	return nil
}

func writeToken(ctx context.Context, client kubernetes.Interface, dir, server, account string,
	result *ready) error {
	seconds := int64(24 * time.Hour / time.Second)
	answer, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account,
		&authentication.TokenRequest{Spec: authentication.TokenRequestSpec{
			ExpirationSeconds: &seconds}}, meta.CreateOptions{})
	if err != nil {
		return err
	}
	token := filepath.Join(dir, account+".token")
	if err := pki.WriteAll(map[string][]byte{token: []byte(answer.Status.Token)}); err != nil {
		return err
	}
	config := kubeconfig(dir, server)
	config.AuthInfos["user"].TokenFile = token
	path := filepath.Join(dir, account+".kubeconfig")
	result.Tokens[account], result.Kubeconfigs[account] = token, path
	return clientcmd.WriteToFile(*config, path)
}
