package audit_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/audit"
)

// Another process of this program is told by these what to do with which log.
const (
	helperEnv = "AUDIT_TEST_HELPER"
	dirEnv    = "AUDIT_TEST_DIR"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(helperEnv) {
	case "":
		os.Exit(m.Run())
	case "begin":
		err = helpBegin(os.Getenv(dirEnv))
	case "append":
		err = helpAppend(os.Getenv(dirEnv))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// helpBegin begins two things, ends one, and waits to be killed.
func helpBegin(dir string) error {
	log, err := audit.Open(audit.Options{Dir: dir})
	if err != nil {
		return err
	}
	for _, tool := range []string{"ended", "killed"} {
		entry, err := log.Begin(audit.Record{Event: audit.Call, Tool: tool})
		if err == nil && tool == "ended" {
			err = entry.End(audit.Record{Event: audit.Call, Tool: tool, Outcome: audit.OK})
		}
		if err != nil {
			return err
		}
	}
	fmt.Println("begun")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// helperLines is how many lines a helper appends.
const helperLines = 200

// helpAppend appends lines, numbered.
func helpAppend(dir string) error {
	log, err := audit.Open(audit.Options{Dir: dir, MaxBytes: 64 << 10, MaxFiles: 1000})
	if err != nil {
		return err
	}
	for line := range helperLines {
		r := audit.Record{Event: audit.Call, Tool: strconv.Itoa(os.Getpid()), Skill: strconv.Itoa(line), Rule: strings.Repeat("r", 200), Outcome: audit.OK}
		if err := log.Append(r); err != nil {
			return err
		}
	}
	return log.Close()
}

// helper starts another process.
func helper(t *testing.T, name, dir string) (process *exec.Cmd, out *bufio.Reader) {
	t.Helper()
	process = exec.Command(os.Args[0])
	process.Env = append(os.Environ(), helperEnv+"="+name, dirEnv+"="+dir)
	process.Stderr = os.Stderr
	if _, err := process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return process, bufio.NewReader(stdout)
}

// What a killed process had begun is in the log, once; what another one has begun
// that lives is not ended for it.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	killed, out := helper(t, "begin", dir)
	if line, err := out.ReadString('\n'); line != "begun\n" {
		t.Fatalf("%q, %v", line, err)
	}
	living := open(t, dir, audit.Options{})
	entry, err := living.Begin(audit.Record{Event: audit.Call, Tool: "living"})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := func() string {
		records, broken := read(t, dir)
		if broken > 0 {
			t.Errorf("%d broken lines", broken)
		}
		var all []string
		for _, r := range records {
			all = append(all, r.Tool+" "+string(r.Outcome))
		}
		return strings.Join(all, ", ")
	}
	if got := outcomes(); got != "ended ok, killed unfinished, living unfinished" {
		t.Errorf("before the kill the log has %s", got)
	}
	open(t, dir, audit.Options{})
	if got := files(t, dir, "running/*.json"); len(got) != 2 {
		t.Errorf("running are %q", got)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // says that it was killed
	open(t, dir, audit.Options{})
	open(t, dir, audit.Options{})
	if got := outcomes(); got != "ended ok, killed unfinished, living unfinished" {
		t.Errorf("after the kill the log has %s", got)
	}
	if err := entry.End(audit.Record{Event: audit.Call, Tool: "living", Outcome: audit.OK}); err != nil {
		t.Fatal(err)
	}
	if got := outcomes(); got != "ended ok, killed unfinished, living ok" {
		t.Errorf("at last the log has %s", got)
	}
	if got := files(t, dir, "running/*"); len(got) != 1 { // by which it is seen that the living one lives
		t.Errorf("left are %q", got)
	}
}

// Several processes write to one log, and rotate it, and no line is lost or torn.
func TestSeveralProcesses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("takes long there")
	}
	dir := filepath.Join(t.TempDir(), "audit")
	var processes []*exec.Cmd
	for range 4 {
		process, _ := helper(t, "append", dir)
		processes = append(processes, process)
	}
	for _, process := range processes {
		if err := process.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	records, broken := read(t, dir)
	if len(records) != len(processes)*helperLines || broken > 0 {
		t.Errorf("%d records and %d broken lines", len(records), broken)
	}
	next := map[string]int{}
	for _, r := range records {
		if r.Skill != strconv.Itoa(next[r.Tool]) {
			t.Errorf("process %s: line %s where %d is due", r.Tool, r.Skill, next[r.Tool])
		}
		next[r.Tool]++
	}
	if rotated := files(t, dir, "audit-*.jsonl"); len(rotated) < 3 {
		t.Errorf("rotated: %q", rotated)
	}
}
