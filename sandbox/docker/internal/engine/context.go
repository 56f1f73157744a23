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
	var config struct{ CurrentContext string }
	if err := readJSON(filepath.Join(configDir(), "config.json"), &config); err != nil {
		return "" // the docker command would say so
	}
	return config.CurrentContext
}

func readJSON(name string, into any) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// contextEndpoint reads where the engine of a context listens.
func contextEndpoint(name string) (Endpoint, error) {
	digest := sha256.Sum256([]byte(name))
	directory := hex.EncodeToString(digest[:])
	contexts := filepath.Join(configDir(), "contexts")
	var context struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := readJSON(filepath.Join(contexts, "meta", directory, "meta.json"), &context); err != nil {
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
