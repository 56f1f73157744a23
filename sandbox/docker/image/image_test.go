package image

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// What builds the image and what uses it must agree on its names.
func TestImageIsBuiltAsItIsUsed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"COPY entry " + protocol.Path + "\n", " " + protocol.PassageDir + " ", " " + protocol.SkillDir + " ", " " + protocol.Workspace + " ", " " + protocol.Private + " ",
	} {
		if !strings.Contains(string(dockerfile), name) {
			t.Errorf("the Dockerfile does not have %q", name)
		}
	}
}

func TestContentsGrow(t *testing.T) {
	t.Parallel()
	var system, python []string
	for _, contents := range []Contents{Slim, Full, Office} {
		more, morePython, err := contents.lists()
		if err != nil {
			t.Fatal(err)
		}
		for _, had := range slices.Concat(system, python) {
			if !slices.Contains(slices.Concat(more, morePython), had) {
				t.Errorf("%s is without %s", contents, had)
			}
		}
		if len(more) <= len(system) || !slices.IsSorted(more) || len(slices.Compact(slices.Clone(more))) != len(more) {
			t.Errorf("%s has %v", contents, more)
		}
		system, python = more, morePython
	}
	if _, _, err := Contents("huge").lists(); err == nil {
		t.Error("there are contents that nobody knows")
	}
}

// The entry program has to run in the image, whatever this machine is.
func TestEntryPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	foreign := filepath.Join(dir, "foreign")
	if err := errors.Join(os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755), os.WriteFile(foreign, header(elf.EM_AARCH64, elf.ET_EXEC), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, arch, says string }{
		{script, "amd64", "no program for Linux"},
		{foreign, "amd64", "another machine, and the engine runs linux/amd64"},
		{foreign, "arm64", ""},
		{foreign, "riscv64", "riscv64"},
		{filepath.Join(dir, "missing"), "amd64", "no such file"},
	} {
		file, err := openEntry(test.name, test.arch)
		if err == nil {
			file.Close()
		}
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s for %s: %v", filepath.Base(test.name), test.arch, err)
		}
	}
	if shell, err := exec.LookPath("sh"); err == nil && runtime.GOOS == "linux" {
		if _, err := openEntry(shell, runtime.GOARCH); !errors.Is(err, ErrEntry) || !strings.Contains(err.Error(), "CGO_ENABLED=0") {
			t.Errorf("a program of the C library: %v", err)
		}
	}
}

// header is that of a program without anything else.
func header(machine elf.Machine, kind elf.Type) []byte {
	var file bytes.Buffer
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	err := binary.Write(&file, binary.LittleEndian, elf.Header64{
		Ident: ident, Type: uint16(kind), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Ehsize: 64, Phentsize: 56, Shentsize: 64,
	})
	if err != nil {
		panic(err)
	}
	return file.Bytes()
}

// Engines know what they have built before by what they are sent.
func TestContextIsReproducible(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(name, []byte("certificates"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIP_CERT", name)
	entry, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer entry.Close()
	b := &builder{entry: entry}
	var first, second bytes.Buffer
	if err := errors.Join(b.writeContext(&first), b.writeContext(&second)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two contexts differ")
	}
	found := make(map[string]string)
	for archive := tar.NewReader(&first); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		content, _ := io.ReadAll(archive)
		found[header.Name] = string(content)
	}
	if found["entry"] != "certificates" || found["pip.pem"] != "certificates" || found["Dockerfile"] != string(dockerfile) {
		t.Errorf("the context is %q", found)
	}
}

func TestRegistriesAreThoseOfThisMachine(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"} {
		t.Setenv(name, "")
	}
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:3128")
	t.Setenv("HTTPS_PROXY", "http://proxy.example:3128")
	t.Setenv("http_proxy", "http://localhost:3128")
	t.Setenv("no_proxy", "localhost,.example")
	t.Setenv("PIP_INDEX_URL", "https://index.example/simple")
	got := registries()
	for name, want := range map[string]string{
		"HTTP_PROXY": "", "http_proxy": "", "HTTPS_PROXY": "http://proxy.example:3128", "no_proxy": "localhost,.example", "PIP_INDEX_URL": "https://index.example/simple", "PIP_TRUSTED_HOST": "",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// TestBuild has an engine build the image of this test's own binary, which is what
// starts in the containers that try it.
func TestBuild(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "builds an image")
	if out, err := exec.Command("docker", "image", "inspect", "skills-mcp/rootfs:slim").CombinedOutput(); err != nil {
		testenv.Need(t, "docker", errors.New(strings.TrimSpace(string(out))))
	}
	var progress bytes.Buffer
	options := Options{Contents: Slim, Debootstrap: true, Tag: fmt.Sprintf("skills-mcp-test/build:%d", os.Getpid()), Cached: true, Progress: &progress}
	t.Cleanup(func() { exec.Command("docker", "rmi", "--force", options.Tag).Run() })
	built, err := Build(t.Context(), options)
	if errors.Is(err, ErrEntry) {
		t.Skipf("this test's own binary %v", err)
	} else if err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	if built.ID == "" || built.Cached || built.Bytes < 50e6 || !strings.Contains(progress.String(), "COPY entry") {
		t.Errorf("built %+v\n%s", built, &progress)
	}
	again, err := Build(t.Context(), options)
	if built.Cached = true; err != nil || again != built {
		t.Errorf("built again: %+v, %v", again, err)
	}

	// What does not work does not get the name.
	broken := options
	broken.Entry = filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken.Entry, header(machines[runtime.GOARCH], elf.ET_EXEC), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), broken); err == nil || !strings.Contains(err.Error(), "does not work") {
		t.Errorf("built of what does not start: %v", err)
	}
	if again, err := Build(t.Context(), options); err != nil || again != built {
		t.Errorf("the image is another one now: %+v, %v", again, err)
	}
}

func TestBuildFails(t *testing.T) {
	t.Parallel()
	if _, err := Build(t.Context(), Options{Host: "unix://" + filepath.Join(t.TempDir(), "none.sock")}); err == nil || !strings.Contains(err.Error(), "start it") {
		t.Errorf("without an engine: %v", err)
	}
	if exec.Command("docker", "version").Run() != nil {
		return
	}
	entry := filepath.Join(t.TempDir(), "entry")
	if err := os.WriteFile(entry, header(machines[runtime.GOARCH], elf.ET_EXEC), 0o755); err != nil {
		t.Fatal(err)
	}
	// A registry on this machine, which there is not.
	_, err := Build(t.Context(), Options{Base: "127.0.0.1:1/no-such-image:none", Entry: entry})
	if !errors.Is(err, ErrBase) || !strings.Contains(err.Error(), "127.0.0.1:1/no-such-image:none") {
		t.Errorf("of a base that is not there: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Build(ended, Options{Entry: entry}); err == nil {
		t.Error("built for nobody")
	}
}
