package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// TestReadsMatchManifest edits files while clients read them: what is read is
// never another version than those that skills/get gave just before and just
// after, and frontmatter and digest are of one version.
func TestReadsMatchManifest(t *testing.T) {
	t.Parallel()
	f := reloadFixture(t)
	url := f.serveHTTP(t)
	editor := &editor{t: t, dir: filepath.Join(f.root, "note"), versions: map[string]int{}}
	editor.save(0)

	const rounds, readers = 60, 4
	stop := make(chan struct{})
	var edits, reads sync.WaitGroup
	edits.Go(func() {
		for version := 1; ; version++ {
			select {
			case <-stop:
				return
			default:
				editor.save(version)
			}
		}
	})
	for reader := range readers {
		name := []string{"SKILL.md", "extra.md"}[reader%2]
		reads.Go(func() {
			for range rounds {
				checkRead(t, url, editor, name)
			}
		})
	}
	reads.Wait()
	close(stop)
	edits.Wait()
	if len(editor.versions) < 10 {
		t.Errorf("only %d versions were written; nothing was tested", len(editor.versions))
	}
}

// TestFileThatNeverRests touches one file faster than it can be hashed: that
// is told as what it is, and not as a fault of the server. It runs alone, with
// the largest file that fits, so that no reading passes between two touches.
func TestFileThatNeverRests(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a touched file looks as before")
	}
	f := reloadFixture(t)
	url := f.serveHTTP(t)
	large := filepath.Join(f.root, "note", "large.bin")
	writeFile(t, large, make([]byte, 15<<20))

	stop := make(chan struct{})
	var touching sync.WaitGroup
	touching.Go(func() {
		for mode := fs.FileMode(0o600); ; mode ^= 0o044 {
			select {
			case <-stop:
				return
			default:
				if err := os.Chmod(large, mode); err != nil {
					t.Error(err)
				}
			}
		}
	})
	defer touching.Wait()
	defer close(stop)
	// Where the touching was kept from the processor, the file rested.
	body := skillsGet(t, url)
	for !bytes.Contains(body, []byte(`"error"`)) {
		body = skillsGet(t, url)
	}
	for _, want := range []string{`the skill \"note\" changes all the time`, "when its author has stopped writing"} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("%s says nothing of %s", body, want)
		}
	}
}

// checkRead reads a file between two manifests.
func checkRead(t *testing.T, url string, editor *editor, name string) {
	uri := "skill://note/" + name
	before := entryVersions(t, url, editor)
	_, body := post(t, url+"/mcp", rpc(2, "resources/read", modern(map[string]any{"uri": uri})), modernHeaders("resources/read", uri)...)
	after := entryVersions(t, url, editor)
	var read struct {
		Result struct{ Contents []struct{ Text string } }
	}
	if err := json.Unmarshal(body, &read); err != nil || len(read.Result.Contents) != 1 {
		t.Errorf("read: %s (%v)", body, err)
		return
	}
	version, known := editor.version(digestOf(read.Result.Contents[0].Text))
	if !known || version < before[uri] || version > after[uri] {
		t.Errorf("%s was read in version %d (known: %v), between manifests of %d and %d", name, version, known, before[uri], after[uri])
	}
}

// getNote asks skills/get. An editor that writes without a pause can be faster
// than the server for a while, which then says so and asks to be asked again.
func getNote(t *testing.T, url string) (body []byte) {
	const patient = 100
	for range patient {
		body = skillsGet(t, url)
		if !bytes.Contains(body, []byte("changes all the time")) {
			break
		}
	}
	return body
}

func skillsGet(t *testing.T, url string) (body []byte) {
	_, body = post(t, url+"/mcp", rpc(1, "skills/get", modern(map[string]any{"uri": "skill://note/SKILL.md"})), modernHeaders("skills/get", "")...)
	return body
}

// entryVersions asks skills/get, and returns each file's version.
func entryVersions(t *testing.T, url string, editor *editor) map[string]int {
	body := getNote(t, url)
	var got struct {
		Result struct {
			Skill struct {
				Frontmatter struct{ Description string }
				Resources   []struct{ URI, Digest string }
			}
		}
	}
	if err := json.Unmarshal(body, &got); err != nil || len(got.Result.Skill.Resources) == 0 {
		t.Errorf("skills/get: %s (%v)", body, err)
		return nil
	}
	versions := map[string]int{}
	for _, file := range got.Result.Skill.Resources {
		version, known := editor.version(file.Digest)
		if !known {
			t.Errorf("%s has a digest that no version had", file.URI)
		}
		versions[file.URI] = version
	}
	if want := describe(versions["skill://note/SKILL.md"]); got.Result.Skill.Frontmatter.Description != want {
		t.Errorf("the frontmatter says %q and the digest is of %q", got.Result.Skill.Frontmatter.Description, want)
	}
	return versions
}

// editor saves as editors do: it writes a new file and renames it.
type editor struct {
	t   *testing.T
	dir string

	mu       sync.Mutex
	versions map[string]int // by digest
}

func describe(version int) string { return fmt.Sprintf("Version %d.", version) }

func (e *editor) save(version int) {
	e.replace("SKILL.md", version, fmt.Sprintf("---\nname: note\ndescription: %s\n---\nWrite.\n", describe(version)))
	e.replace("extra.md", version, fmt.Sprintf("Extra %d.\n", version))
}

func (e *editor) replace(name string, version int, text string) {
	e.mu.Lock()
	e.versions[digestOf(text)] = version
	e.mu.Unlock()
	draft := filepath.Join(e.t.TempDir(), name)
	err := os.WriteFile(draft, []byte(text), 0o644)
	if err == nil {
		err = os.Rename(draft, filepath.Join(e.dir, name))
	}
	if err != nil {
		e.t.Error(err)
	}
}

func (e *editor) version(digest string) (int, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	version, ok := e.versions[digest]
	return version, ok
}

func digestOf(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }
