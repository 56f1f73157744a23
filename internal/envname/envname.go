// Package envname knows the variables of programs that the server sets itself:
// what they start by, and what leads them to the network.
package envname

import (
	"slices"
	"strings"
)

// Those by which programs find the proxy. [Proxies] and NoProxy are set in lower
// case too.
const (
	NoProxy = "NO_PROXY"
	Node    = "NODE_USE_ENV_PROXY"
	Java    = "JAVA_TOOL_OPTIONS" // whose own clients read no such variable
)

// Proxies are those that name the proxy.
var Proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}

// Trust are those by which programs find the certificates that they trust.
var Trust = []string{
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

// start are those that the sandbox and prepared packages set, or that decide which
// code a program is made of.
var start = []string{
	"BASH_ENV", "ENV", "HOME", "IFS", "NODE_OPTIONS", "NODE_PATH", "PATH", "PROJECT", "PYTHONPATH", "PYTHONSTARTUP", "SHELL", "SKILL_DIR", "TMPDIR",
	"VIRTUAL_ENV", "WORKSPACE", "UV_OFFLINE", "UV_PYTHON_DOWNLOADS", "PIP_NO_INDEX", "PIP_DISABLE_PIP_VERSION_CHECK",
	"NPM_CONFIG_PREFIX", "NPM_CONFIG_OFFLINE", "NPM_CONFIG_UPDATE_NOTIFIER", "SSL_CERT_DIR",
}

// Taken reports whether a variable, in any case of letters, is one that the server
// sets or that programs start by, so that it can hold nothing of the user's.
func Taken(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || name == NoProxy || name == Node || name == Java ||
		slices.Contains(Proxies, name) || slices.Contains(Trust, name) || slices.Contains(start, name)
}
