package image

import (
	"net"
	"net/url"
	"os"
	"strings"
)

// registries are the variables that say by which way this machine reaches package
// registries, those of proxies and of pip.
func registries() map[string]string {
	args := make(map[string]string)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		for _, name := range []string{name, strings.ToLower(name)} {
			if value := os.Getenv(name); value != "" && !onLoopback(value) {
				args[name] = value
			}
		}
	}
	for _, name := range []string{"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"} {
		if value := os.Getenv(name); value != "" {
			args[name] = value
		}
	}
	return args
}

// onLoopback reports whether a proxy is on this machine itself, where what builds
// the image does not reach it.
func onLoopback(proxy string) bool {
	at, err := url.Parse(proxy)
	if err != nil {
		return false
	}
	return at.Hostname() == "localhost" || net.ParseIP(at.Hostname()).IsLoopback()
}

// pipCertificates are those by which pip knows its registry on this machine, where
// it is told of other ones than its own.
func pipCertificates() ([]byte, error) {
	name := os.Getenv("PIP_CERT")
	if name == "" {
		return nil, nil
	}
	return os.ReadFile(name)
}
