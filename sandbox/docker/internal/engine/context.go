package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

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

// contextName returns the context that Docker's command uses, or an empty string.
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
func contextEndpoint(name string) (Endpoint, error) {
	digest := sha256.Sum256([]byte(name))
	directory := hex.EncodeToString(digest[:])
	contexts := filepath.Join(configDir(), "contexts")
	content, err := os.ReadFile(filepath.Join(contexts, "meta", directory, "meta.json"))
	if err != nil {
		return Endpoint{}, fmt.Errorf("the Docker context %q cannot be read: %w", name, err)
	}
	var context struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := json.Unmarshal(content, &context); err != nil {
		return Endpoint{}, fmt.Errorf("the Docker context %q cannot be read: %w", name, err)
	}
	docker := context.Endpoints["docker"]
	if docker.Host == "" {
		return Endpoint{}, fmt.Errorf("the Docker context %q names no engine", name)
	}
	found := Endpoint{Host: docker.Host, TLS: TLS{Asked: docker.SkipTLSVerify, Unverified: docker.SkipTLSVerify}}
	files := filepath.Join(contexts, "tls", directory, "docker")
	if _, err := os.Stat(files); !errors.Is(err, fs.ErrNotExist) {
		found.TLS.Asked, found.TLS.Dir = true, files
	}
	return found, nil
}
