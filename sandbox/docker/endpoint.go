package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/docker/docker/client"
)

// endpoint is where an engine may listen: what DOCKER_HOST and its relatives
// say, or the address that is given.
type endpoint struct {
	fromEnvironment bool
	host            string // such as "unix:///run/podman/podman.sock"
	// tls is a directory with ca.pem, cert.pem and key.pem, or empty.
	tls string
}

func (p endpoint) options() []client.Opt {
	if p.fromEnvironment {
		return []client.Opt{client.FromEnv}
	}
	options := []client.Opt{client.WithVersionFromEnv()}
	if p.tls != "" {
		file := func(name string) string { return filepath.Join(p.tls, name) }
		options = append(options, client.WithTLSClientConfig(file("ca.pem"), file("cert.pem"), file("key.pem")))
	}
	return append(options, client.WithHost(p.host))
}

// findEndpoints gives where engines may listen, in the order in which they are
// tried: only the given host, DOCKER_HOST or the context of Docker's command
// where there is one, else the sockets of Docker and of Podman that exist.
func findEndpoints(host string) ([]endpoint, error) {
	if host != "" {
		return []endpoint{{host: host}}, nil
	}
	if os.Getenv("DOCKER_HOST") != "" {
		return []endpoint{{fromEnvironment: true}}, nil
	}
	if name := contextName(); name != "" && name != "default" {
		chosen, err := contextEndpoint(name)
		return []endpoint{chosen}, err
	}
	if runtime.GOOS == "windows" {
		return []endpoint{{host: client.DefaultDockerHost}}, nil
	}
	var found []endpoint
	for _, socket := range sockets() {
		if _, err := os.Stat(socket); err == nil {
			found = append(found, endpoint{host: "unix://" + socket})
		}
	}
	if len(found) == 0 {
		return nil, errors.New("there is no socket of Docker or Podman")
	}
	return found, nil
}

func sockets() []string {
	list := []string{"/var/run/docker.sock"}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		list = append(list, filepath.Join(dir, "docker.sock"), filepath.Join(dir, "podman", "podman.sock"))
	}
	return append(list, "/run/podman/podman.sock")
}

// configDir is where Docker's command keeps its settings.
func configDir() string {
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".docker")
}

// contextName gives the context that Docker's command uses, or an empty string.
func contextName() string {
	if name := os.Getenv("DOCKER_CONTEXT"); name != "" {
		return name
	}
	content, err := os.ReadFile(filepath.Join(configDir(), "config.json"))
	if err != nil {
		return ""
	}
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	if err := json.Unmarshal(content, &config); err != nil {
		return "" // the docker command would say so
	}
	return config.CurrentContext
}

// contextEndpoint reads where the engine of a context listens.
func contextEndpoint(name string) (endpoint, error) {
	digest := sha256.Sum256([]byte(name))
	directory := hex.EncodeToString(digest[:])
	contexts := filepath.Join(configDir(), "contexts")
	content, err := os.ReadFile(filepath.Join(contexts, "meta", directory, "meta.json"))
	if err != nil {
		return endpoint{}, fmt.Errorf("the Docker context %q cannot be read: %w", name, err)
	}
	var context struct {
		Endpoints map[string]struct{ Host string }
	}
	if err := json.Unmarshal(content, &context); err != nil {
		return endpoint{}, fmt.Errorf("the Docker context %q cannot be read: %w", name, err)
	}
	found := endpoint{host: context.Endpoints["docker"].Host}
	if found.host == "" {
		return endpoint{}, fmt.Errorf("the Docker context %q names no engine", name)
	}
	tls := filepath.Join(contexts, "tls", directory, "docker")
	if _, err := os.Stat(filepath.Join(tls, "cert.pem")); !errors.Is(err, fs.ErrNotExist) {
		found.tls = tls
	}
	return found, nil
}
