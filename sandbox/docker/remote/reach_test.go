package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
)

// apiVersion is one that the engines speak of which tests say that they are some.
const apiVersion = "1.41"

// testImage is the image that "skills-mcp image build" builds.
const testImage = "skills-mcp/sandbox:latest"

// reach connects to an engine elsewhere until the end of the test.
func reach(t *testing.T, host string) *engine.Engine {
	t.Helper()
	e, err := engine.Dial(t.Context(), host, Access{}.Route)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if !e.Elsewhere {
		t.Errorf("%s is taken for this machine's", host)
	}
	return e
}

// expectUsable uses an engine as a backend does.
func expectUsable(t *testing.T, e *engine.Engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	unknown := new(engine.NoRuntimeError)
	if err := e.CheckRuntime(ctx, "no such"); !errors.As(err, &unknown) || len(unknown.There) == 0 {
		t.Errorf("of its runtimes the engine says %v", err)
	}
	label := rand.Text()
	id, s := startCat(t, ctx, e, label)
	if listed, err := e.List(ctx, "skills-mcp.test", label); err != nil || len(listed) != 1 || listed[id] == nil {
		t.Errorf("list gives %v, %v", listed, err)
	}
	sent := make([]byte, 3<<20) // bytes of all kinds, more than any buffer holds
	rand.Read(sent)
	go func() {
		s.Conn.Write(sent) // what is not written is missed below
		s.Conn.(interface{ CloseWrite() error }).CloseWrite()
	}()
	var got bytes.Buffer
	if err := s.CopyTo(&got, io.Discard); err != nil || !bytes.Equal(got.Bytes(), sent) {
		t.Errorf("of %d bytes %d come back, %v", len(sent), got.Len(), err)
	}
	s.Conn.Close()
	if err := e.Remove(ctx, id); err != nil {
		t.Error(err)
	}
}

// startCat starts a container that gives back what it gets.
func startCat(t *testing.T, ctx context.Context, e *engine.Engine, label string) (id string, s *engine.Streams) {
	t.Helper()
	if _, err := e.Image(ctx, testImage); errors.Is(err, engine.ErrNoImage) {
		testenv.Need(t, "docker", err)
	}
	id, err := e.Create(ctx, engine.Blueprint{
		Image: testImage, Command: []string{"cat"}, User: "65534:65534",
		Labels: map[string]string{"skills-mcp.test": label}, MemoryBytes: 64 << 20, Processes: 8, Unconnected: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Command("docker", "rm", "--force", id).Run() }) // it may be gone, and so may the engine
	if s, err = e.Attach(ctx, id); err == nil {
		err = e.Start(ctx, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return id, s
}

func TestEngineOverTCP(t *testing.T) {
	enginetest.Settings(t, nil)
	host := enginetest.ServeTCP(t, nil)
	for _, scheme := range []string{"tcp", "http"} {
		expectUsable(t, reach(t, scheme+strings.TrimPrefix(host, "tcp")))
	}
	t.Setenv("DOCKER_HOST", host)
	expectUsable(t, reach(t, ""))
}

func TestEngineOverTLS(t *testing.T) {
	host, certificates := enginetest.ServeTLS(t)
	enginetest.Settings(t, nil)
	t.Setenv("DOCKER_CERT_PATH", certificates)
	t.Setenv("DOCKER_TLS_VERIFY", "1")
	for _, scheme := range []string{"tcp", "http", "https"} {
		expectUsable(t, reach(t, scheme+strings.TrimPrefix(host, "tcp")))
	}
	t.Setenv("DOCKER_HOST", host)
	expectUsable(t, reach(t, ""))
	t.Setenv("DOCKER_TLS_VERIFY", "") // of no matter on loopback
	expectUsable(t, reach(t, ""))

	t.Setenv("DOCKER_CERT_PATH", t.TempDir())
	if _, err := engine.Dial(t.Context(), host, Access{}.Route); !errors.Is(err, engine.ErrNoEngine) || !strings.Contains(err.Error(), "ca.pem") {
		t.Errorf("without the files there is %v", err)
	}
}

// An engine is not to be waited for longer than asked, even where it has
// answered before.
func TestStreamOfEngineThatHangs(t *testing.T) {
	enginetest.Settings(t, nil)
	hang := make(chan struct{})
	asked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/attach") {
			close(asked)
			<-hang
		}
		w.Header().Set("Api-Version", apiVersion)
		io.WriteString(w, `{"Os": "linux"}`)
	}))
	defer server.Close()
	defer close(hang)
	e := reach(t, server.URL)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-asked
		cancel()
	}()
	attached := make(chan error, 1)
	go func() {
		_, err := e.Attach(ctx, "some")
		attached <- err
	}()
	select {
	case err := <-attached:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("attach gives %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("attach does not return")
	}
}
