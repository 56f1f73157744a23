package docker

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

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
)

// reach connects to an engine elsewhere until the end of the test.
func reach(t *testing.T, host string) *engine {
	t.Helper()
	e, err := dial(t.Context(), host, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.close(); err != nil {
			t.Error(err)
		}
	})
	if !e.elsewhere {
		t.Errorf("%s is taken for this machine's", host)
	}
	return e
}

// expectUsable uses an engine as a backend does.
func expectUsable(t *testing.T, e *engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if info, err := e.api.Info(ctx); err != nil || info.OSType != "linux" {
		t.Errorf("Info gives %+v, %v", info, err)
	}
	label := rand.Text()
	id, s := startCat(t, ctx, e, label)
	if listed, err := e.list(ctx, "skills-mcp.test", label); err != nil || len(listed) != 1 || listed[0].id != id {
		t.Errorf("list gives %v, %v", listed, err)
	}
	sent := make([]byte, 3<<20) // bytes of all kinds, more than any buffer holds
	rand.Read(sent)
	go func() {
		s.conn.Write(sent) // what is not written is missed below
		s.conn.(interface{ CloseWrite() error }).CloseWrite()
	}()
	var got bytes.Buffer
	if err := s.copyTo(&got, io.Discard); err != nil || !bytes.Equal(got.Bytes(), sent) {
		t.Errorf("of %d bytes %d come back, %v", len(sent), got.Len(), err)
	}
	s.conn.Close()
	if err := e.remove(ctx, id); err != nil {
		t.Error(err)
	}
}

// startCat starts a container that gives back what it gets.
func startCat(t *testing.T, ctx context.Context, e *engine, label string) (id string, s *streams) {
	t.Helper()
	if _, err := e.image(ctx, DefaultImage); errors.Is(err, errNoImage) && !enginetest.Required("docker") {
		t.Skipf("needs the image %s (make test-setup makes it)", DefaultImage)
	}
	id, err := e.create(ctx, blueprint{
		image: DefaultImage, command: []string{"cat"}, user: "65534:65534",
		labels: map[string]string{"skills-mcp.test": label}, memoryBytes: 64 << 20, processes: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Command("docker", "rm", "--force", id).Run() }) // it may be gone, and so may the engine
	if s, err = e.attach(ctx, id); err == nil {
		err = e.start(ctx, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return id, s
}

func TestEngineOverTCP(t *testing.T) {
	settle(t, nil)
	host := enginetest.ServeTCP(t, nil)
	for _, scheme := range []string{"tcp", "http"} {
		expectUsable(t, reach(t, scheme+strings.TrimPrefix(host, "tcp")))
	}
	t.Setenv("DOCKER_HOST", host)
	expectUsable(t, reach(t, ""))
}

func TestEngineOverTLS(t *testing.T) {
	host, certificates := enginetest.ServeTLS(t)
	settle(t, nil)
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
	if _, err := dial(t.Context(), host, false); !errors.Is(err, errNoEngine) || !strings.Contains(err.Error(), "ca.pem") {
		t.Errorf("without the files there is %v", err)
	}
}

// An engine is not to be waited for longer than asked, even where it has
// answered before.
func TestStreamOfEngineThatHangs(t *testing.T) {
	settle(t, nil)
	hang := make(chan struct{})
	asked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/attach") {
			close(asked)
			<-hang
		}
		w.Header().Set("Api-Version", minAPI)
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
		_, err := e.attach(ctx, "some")
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
