package vm

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// sandboxImage is what "skills-mcp image build" builds.
const sandboxImage = "skills-mcp/sandbox:latest"

// containers are the tests of sandbox/docker that show what the cases are
// about.
var containers = []string{
	"TestInfoSaysWhatIsEnforced", "TestProgramsAreIsolated", "TestLimits", "TestNothingOutlivesAKilledServer", "TestCloseLeavesNothing",
}

// Engines of an ordinary user, to whom systemd has delegated control groups for
// memory and processes. The test is not parallel: its programs have deadlines.
func TestRootlessEngines(t *testing.T) {
	testenv.Variant(t, "engines of an ordinary user, in a machine")
	m := machine{arch: *arch, root: "engines", script: "engines"}
	testenv.Need(t, "vm", errors.Join(m.missing(), missingImage(*arch)))
	m.payload = pack(t, map[string]string{
		"package.test": buildTests(t, "../../sandbox/docker"),
		"tests":        list(t, containers),
	})
	m.disks = []string{saveImage(t)}
	runCases(t, m, []string{"docker", "podman", "podman-without-systemd"})
}

// missingImage reports whether this machine's engine lacks the image for a
// processor.
func missingImage(arch string) error {
	found, err := exec.Command("docker", "image", "inspect", "--format", "{{.Architecture}}", sandboxImage).Output()
	if err != nil {
		return fmt.Errorf("there is no image %s: %w", sandboxImage, err)
	}
	if made := strings.TrimSpace(string(found)); made != arch {
		return fmt.Errorf("the image %s is for %s, not for %s", sandboxImage, made, arch)
	}
	return nil
}

// saveImage writes the image to a file, and says which one it is.
func saveImage(t *testing.T) string {
	t.Helper()
	described, err := exec.Command("docker", "image", "inspect", "--format", "{{.Id}}, {{.Size}} bytes, {{json .Config.Labels}}", sandboxImage).Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the engines run %s: %s", sandboxImage, described)
	file := filepath.Join(t.TempDir(), "image.tar")
	if out, err := exec.Command("docker", "save", "--output", file, sandboxImage).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}
