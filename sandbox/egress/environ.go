package egress

import (
	"fmt"
	"net"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/envname"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Variables returns the environment that has programs use the proxy at
// [sandbox.ProxyAddress]. Where bundle is not empty, it is the path, as programs
// see it, of a file that holds what [Proxy.Bundle] returns, and programs are told
// to trust the certificates in it; that is for runs with secrets.
func Variables(bundle string) map[string]string {
	const proxy = "http://" + sandbox.ProxyAddress
	set := map[string]string{envname.Node: "1", envname.Java: javaOptions()}
	for _, name := range envname.Proxies {
		set[name], set[strings.ToLower(name)] = proxy, proxy
	}
	for _, name := range []string{envname.NoProxy, strings.ToLower(envname.NoProxy)} {
		set[name] = "localhost,127.0.0.1,::1"
	}
	if bundle == "" {
		return set
	}
	for _, name := range envname.Trust {
		set[name] = bundle
	}
	return set
}

// javaOptions returns what names the proxy to Java.
func javaOptions() string {
	host, port, _ := net.SplitHostPort(sandbox.ProxyAddress)
	return fmt.Sprintf("-Dhttp.proxyHost=%[1]s -Dhttp.proxyPort=%[2]s -Dhttps.proxyHost=%[1]s -Dhttps.proxyPort=%[2]s -Dhttp.nonProxyHosts=localhost|127.*",
		host, port)
}
