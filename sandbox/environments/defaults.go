package environments

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// askTimeout is how long a tool, or an index, may take to say where files are.
	askTimeout = 20 * time.Second
	// maxPageBytes bounds a page of an index, and maxFileHosts what is taken of it.
	maxPageBytes = 4 << 20
	maxFileHosts = 4
	// knownProject is one that every index of Python has that is not for one
	// company alone.
	knownProject = "pip"
)

var (
	defaultIndex = regexp.MustCompile(`(?s)--default-index\s.*?by\s+default:\s+<(https?://[^\s>]+)>`)
	fileLink     = regexp.MustCompile(`(?i)href\s*=\s*["'](https?://[^"'\s]+)["']`)
)

// defaultPython returns the index that uv asks where nobody names one. Only uv
// knows it.
func defaultPython(ctx context.Context, uv string) (string, error) {
	out, err := answer(ctx, uv, "pip", "compile", "--help")
	if err != nil {
		return "", err
	}
	found := defaultIndex.FindStringSubmatch(out)
	if found == nil {
		return "", errors.New("which package index uv asks cannot be found out: name it by UV_DEFAULT_INDEX")
	}
	return found[1], nil
}

// defaultNpm returns the registry that npm asks where nobody names one.
func defaultNpm(ctx context.Context) (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", nil // the sandbox's may be another, which is told of none
	}
	out, err := answer(ctx, npm, "config", "get", "registry")
	return strings.TrimSpace(out), err
}

// answer runs a program of the user's without settings of anybody.
func answer(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Dir, command.Env = "/", []string{"HOME=/nonexistent", "PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its package index: %w", command.Args[0], err)
	}
	return string(out), nil
}

// fileHosts returns the hosts, besides its own, on which an index of Python keeps
// the files of packages, as its page of one package says; none where that is not
// to be had.
func fileHosts(ctx context.Context, index string) (hosts []string) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	page, err := url.JoinPath(index, knownProject, "/")
	if err != nil {
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil
	}
	request.Header.Set("Accept", "text/html")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxPageBytes))
	if err != nil || response.StatusCode != http.StatusOK {
		return nil
	}
	for _, link := range fileLink.FindAllStringSubmatch(string(text), -1) {
		of, err := hostOf(link[1])
		if err == nil && !slices.Contains(hosts, of) && len(hosts) < maxFileHosts {
			hosts = append(hosts, of)
		}
	}
	return hosts
}
