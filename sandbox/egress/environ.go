package egress

import (
	"fmt"
	"net"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Variables returns the environment that has programs use the proxy at
// [sandbox.ProxyAddress]. Where bundle is not empty, it is the path, as programs
// see it, of a file that holds what [Proxy.Bundle] returns, and programs are told
// to trust the certificates in it; that is for runs with secrets.
func Variables(bundle string) map[string]string {
	const proxy = "http://" + sandbox.ProxyAddress
	variables := map[string]string{"NODE_USE_ENV_PROXY": "1", "JAVA_TOOL_OPTIONS": javaOptions()}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		variables[name] = proxy
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		variables[name] = "localhost,127.0.0.1,::1"
	}
	if bundle == "" {
		return variables
	}
	for _, name := range trustVariables {
		variables[name] = bundle
	}
	return variables
}

// trustVariables are those by which programs find the certificates that they
// trust.
var trustVariables = []string{
	"SSL_CERT_FILE",       // OpenSSL, Go, uv, Ruby
	"REQUESTS_CA_BUNDLE",  // Python's requests
	"PIP_CERT",            //
	"CURL_CA_BUNDLE",      //
	"GIT_SSL_CAINFO",      //
	"NODE_EXTRA_CA_CERTS", // Node.js and Bun
	"DENO_CERT",           //
	"CARGO_HTTP_CAINFO",   //
	"AWS_CA_BUNDLE",       //
	"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
}

// javaOptions returns what tells Java's own clients, which read no such variable.
func javaOptions() string {
	host, port, _ := net.SplitHostPort(sandbox.ProxyAddress)
	return fmt.Sprintf("-Dhttp.proxyHost=%[1]s -Dhttp.proxyPort=%[2]s -Dhttps.proxyHost=%[1]s -Dhttps.proxyPort=%[2]s -Dhttp.nonProxyHosts=localhost|127.*",
		host, port)
}
