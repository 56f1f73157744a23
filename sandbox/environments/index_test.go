package environments_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
)

// index is one of Python's and npm's packages, on a loopback address, which runs
// reach by the name "index.test".
type index struct {
	t testing.TB
	// python are files by their names, and npm packuments and tarballs by paths.
	python, npm map[string][]byte
	// hashes replace those that are told of files.
	hashes map[string]string

	server *httptest.Server
	mu     sync.Mutex
	asked  []string
	// arrived, if set, gets the path of each request before it is answered.
	arrived chan string
}

const indexHost = "index.test"

func newIndex(t testing.TB) *index {
	i := &index{t: t, python: map[string][]byte{}, npm: map[string][]byte{}, hashes: map[string]string{}}
	i.server = httptest.NewServer(i)
	t.Cleanup(i.server.Close)
	return i
}

// entries are those of an archive, by path.
type entries map[string]string

// wheel adds a wheel of pure Python with files and what its METADATA says
// besides.
func (i *index) wheel(name, version string, files entries, metadata ...string) {
	info := fmt.Sprintf("%s-%s.dist-info/", name, version)
	all := maps.Clone(files)
	if all == nil {
		all = entries{}
	}
	all[info+"METADATA"] = fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s\n", name, version, strings.Join(metadata, "\n"))
	all[info+"WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
	var record strings.Builder
	for _, file := range slices.Sorted(maps.Keys(all)) {
		sum := sha256.Sum256([]byte(all[file]))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", file, base64.RawURLEncoding.EncodeToString(sum[:]), len(all[file]))
	}
	all[info+"RECORD"] = record.String() + info + "RECORD,,\n"
	i.mu.Lock() // which a request takes first: it may come from another process
	defer i.mu.Unlock()
	i.python[fmt.Sprintf("%s-%s-py3-none-any.whl", name, version)] = zipped(i.t, all)
}

func zipped(t testing.TB, files entries) []byte {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, err := archive.Create(name)
		if err == nil {
			_, err = file.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// sdist adds a source distribution.
func (i *index) sdist(name, version string) {
	i.python[fmt.Sprintf("%s-%s.tar.gz", name, version)] = tarred(i.t, entries{
		fmt.Sprintf("%s-%s/PKG-INFO", name, version): fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version),
		fmt.Sprintf("%s-%s/setup.py", name, version): "open('/tmp/was-run', 'w')",
	})
}

func tarred(t testing.TB, files entries) []byte {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(files[name]))})
		if err == nil {
			_, err = archive.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// node adds a package of npm, of which the manifest is given without name and
// version.
func (i *index) node(name, version string, manifest map[string]any, files entries) {
	manifest["name"], manifest["version"] = name, version
	text, err := json.Marshal(manifest)
	if err != nil {
		i.t.Fatal(err)
	}
	all := entries{"package/package.json": string(text)}
	for file, content := range files {
		all["package/"+file] = content
	}
	tarball := tarred(i.t, all)
	sum := sha512.Sum512(tarball)
	path := fmt.Sprintf("%s/-/%s.tgz", name, version)
	manifest["dist"] = map[string]any{
		"tarball": "http://" + indexHost + "/npm/" + path, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
	packument, err := json.Marshal(map[string]any{
		"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: manifest},
	})
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.npm[path], i.npm[name] = tarball, packument
}

// integrity returns that of a tarball.
func (i *index) integrity(name, version string) string {
	sum := sha512.Sum512(i.npm[fmt.Sprintf("%s/-/%s.tgz", name, version)])
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// ServeHTTP answers as indexes do.
func (i *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.asked = append(i.asked, r.Host+r.URL.Path)
	arrived := i.arrived
	i.mu.Unlock()
	if arrived != nil {
		arrived <- r.URL.Path
	}
	if name, found := strings.CutPrefix(r.URL.Path, "/simple/"); found {
		i.simple(w, strings.Trim(name, "/"))
		return
	}
	if strings.HasPrefix(r.URL.Path, "/forbidden/") {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/silent/") {
		<-r.Context().Done()
		return
	}
	if name, found := strings.CutPrefix(r.URL.Path, "/files/"); found {
		if file, there := i.python[name]; there {
			_, _ = w.Write(file)
			return
		}
	}
	if name, found := strings.CutPrefix(r.URL.Path, "/npm/"); found {
		if file, there := i.npm[name]; there {
			_, _ = w.Write(file)
			return
		}
	}
	http.NotFound(w, r)
}

// simple lists the files of a package of Python.
func (i *index) simple(w http.ResponseWriter, name string) {
	var links strings.Builder
	for file, content := range i.python {
		if strings.ReplaceAll(strings.SplitN(file, "-", 2)[0], "_", "-") != name {
			continue
		}
		sum := sha256.Sum256(content)
		hash := hex.EncodeToString(sum[:])
		if other, wrong := i.hashes[file]; wrong {
			hash = other
		}
		fmt.Fprintf(&links, "<a href=\"/files/%s#sha256=%s\">%s</a>\n", file, hash, file)
	}
	if links.Len() == 0 {
		w.WriteHeader(http.StatusNotFound)
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<!DOCTYPE html><html><body>\n%s</body></html>", &links)
}

// wasAsked reports whether a path that holds part was asked for.
func (i *index) wasAsked(part string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.ContainsFunc(i.asked, func(path string) bool { return strings.Contains(path, part) })
}

// indexes are the addresses of the index, as runs know them.
func (i *index) indexes() environments.Indexes {
	return environments.Indexes{
		Python: "http://" + indexHost + "/simple", Npm: "http://" + indexHost + "/npm/", Hosts: []string{"http://" + indexHost},
	}
}

// Serve is the only way of a run to the network: to the index, whatever host is
// asked for.
func (i *index) Serve(listener net.Listener) {
	to, err := url.Parse(i.server.URL)
	if err != nil {
		i.t.Error(err)
		return
	}
	proxy := &http.Server{Handler: &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}}
	_ = proxy.Serve(listener) // until it is closed
	_ = proxy.Close()
}

var _ sandbox.Egress = (*index)(nil)

func proxyVariables() map[string]string { return egress.Variables("") }
