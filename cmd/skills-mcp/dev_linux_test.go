package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/internal/testprocess"
)

// author is somebody at work on skills that 'skills-mcp dev' follows.
type author struct {
	t       *testing.T
	base    string // in which the skills are
	own     string // directories of the program
	ended   bool
	process *exec.Cmd
	events  chan devEvent
}

// devEvent is a line of its output.
type devEvent struct {
	Event string
	line  []byte
}

type devRound struct {
	Changed, Gone []string
	Skills        []struct {
		Name, Path, Description string
		Broken, First           bool
		Lines                   int
		Resources               []struct{ Path string }
		Tokens                  struct{ Listed, Activated, Instructions, Resources int }
		Before                  *struct{ Listed, Activated, Instructions, Resources int }
	}
	New, Fixed []struct {
		File, Rule, Hint string
		Line, Column     int
	}
	Valid, Of, Errors, Warnings int
}

type devExample struct {
	Skill, Name, File, Was string
	Passed, Same           bool
	Faults                 []struct {
		File string
		Line int
	}
}

type devEnd struct {
	Interrupted    bool
	Passed, Failed int
	Faults         []struct{ File, Message string }
}

const greets = `examples:
  - name: greets
    exec: {script: greet.sh}
    expect: {stdout: {exact: Hello}}
`

// greeter returns the files of a skill of that name, in a directory.
func greeter(dir, name string) map[string]string {
	return map[string]string{
		dir + "/SKILL.md":         "---\nname: " + name + "\ndescription: Greets.\n---\nRun greet.sh.\n",
		dir + "/greet.sh":         "#!/bin/sh\necho Hello\n",
		dir + "/tests/greet.yaml": greets,
	}
}

// newAuthor starts 'skills-mcp dev' on a place in which these files are, with out in
// the place of its output, or if nil with its events.
func newAuthor(t *testing.T, files map[string]string, out *os.File, args ...string) *author {
	t.Helper()
	a := &author{t: t, base: testfiles.Dir(t, files), events: make(chan devEvent, 1000)}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a.process = exec.Command(self)
	a.process.Args = append([]string{"skills-mcp", "dev", "--sandbox=unsafe-host"}, args...)
	a.process.Dir = a.base
	a.process.Stderr = os.Stderr
	own := testfiles.Dir(t, map[string]string{"tmp/": ""})
	a.own = own
	a.process.Env = append(os.Environ(), "HOME="+own, "XDG_STATE_HOME="+own+"/state", "XDG_CONFIG_HOME="+own+"/config", "XDG_CACHE_HOME="+own+"/cache", "TMPDIR="+own+"/tmp", "NO_COLOR=")
	if a.process.Stdout = out; out != nil {
		close(a.events)
	} else {
		a.process.Args = append(a.process.Args, "--json")
		a.process.Stdout = nil
		output, err := a.process.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		go a.read(output)
	}
	if err := a.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.ends)
	return a
}

func (a *author) read(output io.Reader) {
	defer close(a.events)
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e devEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			a.t.Errorf("%q: %v", lines.Text(), err)
		}
		e.line = bytes.Clone(lines.Bytes())
		a.events <- e
	}
}

// ends interrupts the program, which then ends well and leaves nothing.
func (a *author) ends() {
	if a.ended {
		return
	}
	a.ended = true
	_ = a.process.Process.Signal(os.Interrupt)
	for range a.events { // until its output ends
	}
	if err := a.process.Wait(); err != nil {
		a.t.Errorf("it ends with %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(a.own, "tmp")); err != nil || len(left) > 0 {
		a.t.Errorf("it leaves %v, %v", left, err)
	}
}

// save writes a file as editors do, in one step.
func (a *author) save(name, text string) {
	a.t.Helper()
	beside := filepath.Join(a.base, "saved~")
	testfiles.Write(a.t, beside, text)
	a.move("saved~", name)
}

func (a *author) move(from, to string) {
	a.t.Helper()
	if err := os.Rename(filepath.Join(a.base, from), filepath.Join(a.base, to)); err != nil {
		a.t.Fatal(err)
	}
}

// await returns the next event of a kind, and the kinds of those before.
func await[T any](a *author, kind string) (found T, before []string) {
	a.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case e, more := <-a.events:
			if !more {
				a.t.Fatalf("it ended before there was a %s; there were %v", kind, before)
			}
			if e.Event == kind {
				if err := json.Unmarshal(e.line, &found); err != nil {
					a.t.Fatal(err)
				}
				return found, before
			}
			before = append(before, e.Event)
		case <-late:
			a.t.Fatalf("there is no %s; there were %v", kind, before)
		}
	}
}

func next[T any](a *author, kind string) T {
	a.t.Helper()
	found, _ := await[T](a, kind)
	return found
}

// TestDev follows one skill through a script that fails, a document that cannot be
// read, and their repair.
func TestDev(t *testing.T) {
	t.Parallel()
	a := newAuthor(t, greeter("greet", "greet"), nil, "greet")
	r := next[devRound](a, "round")
	if len(r.Skills) != 1 || !r.Skills[0].First || r.Skills[0].Path != "greet" || r.Skills[0].Description != "Greets." || r.Skills[0].Tokens.Activated < 10 ||
		r.Skills[0].Lines < 5 || len(r.Skills[0].Resources) != 2 || r.Skills[0].Resources[0].Path != "greet.sh" || r.Valid != 1 || r.Of != 1 {
		t.Errorf("first: %+v", r)
	}
	if e := next[devExample](a, "example"); e.Skill != "greet" || e.Name != "greets" || !e.Passed || e.Was != "" {
		t.Errorf("first: %+v", e)
	}
	if e := next[devEnd](a, "end"); e.Passed != 1 || e.Failed != 0 {
		t.Errorf("first: %+v", e)
	}

	a.save("greet/greet.sh", "echo Goodbye\n")
	r = next[devRound](a, "round")
	if !slices.Equal(r.Changed, []string{"greet/greet.sh"}) || len(r.New) > 0 {
		t.Errorf("a script: %+v", r)
	}
	e := next[devExample](a, "example")
	if e.Passed || e.Was != "passed" || e.File != "greet/tests/greet.yaml" || len(e.Faults) != 1 || e.Faults[0].File != e.File || e.Faults[0].Line != 4 {
		t.Errorf("a script: %+v", e)
	}
	next[devEnd](a, "end")

	a.save("greet/SKILL.md", "---\nname: greet\ndescription: [\n---\n")
	r = next[devRound](a, "round")
	if len(r.Skills) != 1 || !r.Skills[0].Broken || r.Skills[0].Description != "Greets." || len(r.New) != 1 || r.New[0].Rule != "yaml-syntax" ||
		r.New[0].File != "greet/SKILL.md" || r.New[0].Line == 0 || r.New[0].Hint == "" || r.Errors != 1 || r.Valid != 0 {
		t.Errorf("a broken document: %+v", r)
	}
	if e, before := await[devEnd](a, "end"); len(before) > 0 || e.Failed != 0 {
		t.Errorf("a broken document: %+v after %v", e, before)
	}

	a.save("greet/greet.sh", "echo Hello\n")
	if e, before := await[devEnd](a, "end"); !slices.Equal(before, []string{"round"}) || e.Passed != 0 {
		t.Errorf("a script of a broken skill: %+v after %v", e, before)
	}
	a.save("greet/SKILL.md", "---\nname: greet\ndescription: Greets somebody who is known by name.\n---\nRun greet.sh.\n")
	r = next[devRound](a, "round")
	if len(r.Fixed) != 1 || r.Fixed[0].Rule != "yaml-syntax" || len(r.Skills) != 1 || r.Skills[0].Broken || r.Skills[0].Before == nil ||
		r.Skills[0].Before.Listed >= r.Skills[0].Tokens.Listed {
		t.Errorf("repaired: %+v", r)
	}
	if e := next[devExample](a, "example"); !e.Passed || e.Was != "failed" {
		t.Errorf("repaired: %+v", e)
	}
	if e := next[devEnd](a, "end"); e.Passed != 1 {
		t.Errorf("repaired: %+v", e)
	}

	a.save("greet/tests/greet.yaml", "examples: []\n")
	if e := next[devEnd](a, "end"); e.Passed != 0 || len(e.Faults) != 1 || e.Faults[0].File != "greet/tests/greet.yaml" {
		t.Errorf("a faulty file of examples: %+v", e)
	}
}

// A save while an example runs ends it, and begins it again; an interrupt ends it too.
func TestDevInterruptsExamples(t *testing.T) {
	t.Parallel()
	files := greeter("skills/slow", "slow")
	for name, text := range greeter("skills/quick", "quick") {
		files[name] = text
	}
	a := newAuthor(t, files, nil, "skills")
	if e := next[devEnd](a, "end"); e.Passed != 2 {
		t.Fatalf("%+v", e)
	}
	pid := filepath.Join(a.base, "pid")
	forever := "echo $$ > '" + pid + ".new'; mv '" + pid + ".new' '" + pid + "'\nexec sleep 1000\n"
	a.save("skills/slow/greet.sh", forever)
	next[struct{}](a, "running")
	first := awaitPID(t, pid)
	a.save("skills/quick/greet.sh", "#!/bin/sh\necho Hello # you\n")
	if e := next[devEnd](a, "end"); !e.Interrupted {
		t.Errorf("a save does not interrupt: %+v", e)
	}
	if testprocess.Alive(first) {
		t.Error("the program still runs")
	}
	// What was saved comes first, and then what was interrupted.
	if e := next[devExample](a, "example"); e.Skill != "quick" || !e.Passed {
		t.Errorf("%+v", e)
	}
	second := awaitPID(t, pid)
	a.save("skills/slow/greet.sh", "#!/bin/sh\necho Hello\n")
	if e := next[devEnd](a, "end"); !e.Interrupted {
		t.Errorf("a save does not interrupt: %+v", e)
	}
	if e := next[devExample](a, "example"); e.Skill != "slow" || !e.Passed || e.Was != "passed" {
		t.Errorf("%+v", e)
	}
	if e := next[devEnd](a, "end"); e.Interrupted || e.Passed != 2 {
		t.Errorf("%+v", e)
	}
	a.save("skills/slow/greet.sh", forever)
	third := awaitPID(t, pid)
	a.ends()
	for _, process := range []int{second, third} {
		if testprocess.Alive(process) {
			t.Error("a program still runs")
		}
	}
}

// awaitPID returns what a program wrote of itself, once.
func awaitPID(t *testing.T, file string) int {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	t.Fatal("the program has not begun")
	return 0
}

// Skills come and go, and so does the directory in which they are.
func TestDevFollowsADirectory(t *testing.T) {
	t.Parallel()
	files := greeter("skills/one", "one")
	for name, text := range greeter("aside", "two") {
		files[name] = text
	}
	const many = 30
	for i := range many {
		for name, text := range greeter(fmt.Sprintf("many/%d", i), fmt.Sprintf("many-%d", i)) {
			files[name] = text
		}
	}
	a := newAuthor(t, files, nil, "--no-examples", "skills")
	if r := next[devRound](a, "round"); len(r.Skills) != 1 || r.Skills[0].Name != "one" {
		t.Errorf("first: %+v", r)
	}
	if _, before := await[devEnd](a, "end"); len(before) > 0 {
		t.Errorf("--no-examples: %v", before)
	}
	a.move("aside", "skills/two")
	if r := next[devRound](a, "round"); len(r.Skills) != 1 || r.Skills[0].Name != "two" || !r.Skills[0].First || r.Of != 2 {
		t.Errorf("a skill comes: %+v", r)
	}
	a.move("many", "skills/many")
	if r := next[devRound](a, "round"); len(r.Skills) != many || r.Of != many+2 {
		t.Errorf("many skills at once are %d in a round", len(r.Skills))
	}
	a.move("skills/many", "many")
	if r := next[devRound](a, "round"); len(r.Gone) != many || len(r.Skills) > 0 {
		t.Errorf("many skills at once: %+v", r)
	}
	a.move("skills/one", "aside")
	if r := next[devRound](a, "round"); !slices.Equal(r.Gone, []string{"one"}) || len(r.Skills) > 0 {
		t.Errorf("a skill goes: %+v", r)
	}
	a.move("skills", "removed")
	if r := next[devRound](a, "round"); !slices.Equal(r.Gone, []string{"two"}) || len(r.New) != 1 || r.New[0].Rule != "root-missing" {
		t.Errorf("the directory goes: %+v", r)
	}
	a.move("removed", "skills")
	if r := next[devRound](a, "round"); len(r.Skills) != 1 || r.Skills[0].Name != "two" || len(r.Fixed) != 1 {
		t.Errorf("the directory is there again: %+v", r)
	}
}

// Of an archive nothing is told by where it was extracted to.
func TestDevFollowsAnArchive(t *testing.T) {
	t.Parallel()
	a := newAuthor(t, map[string]string{"greet.skill": archived(t, greeter("greet", "greet"))}, nil, "greet.skill")
	if r := next[devRound](a, "round"); len(r.Skills) != 1 || r.Skills[0].Path != "greet.skill/greet" {
		t.Errorf("first: %+v", r)
	}
	if e := next[devEnd](a, "end"); e.Passed != 1 {
		t.Errorf("first: %+v", e)
	}
	files := greeter("greet", "greet")
	files["greet/greet.sh"] = "echo Goodbye\n"
	a.save("greet.skill", archived(t, files))
	r := next[devRound](a, "round")
	if len(r.Skills) != 1 || r.Skills[0].First || !slices.Contains(r.Changed, "greet.skill/greet/greet.sh") ||
		slices.ContainsFunc(r.Changed, filepath.IsAbs) {
		t.Errorf("another archive: %+v", r)
	}
	if e := next[devExample](a, "example"); e.Passed || e.Was != "passed" || e.File != "greet.skill/greet/tests/greet.yaml" {
		t.Errorf("another archive: %+v", e)
	}
}

// archived returns an archive of files.
func archived(t *testing.T, files map[string]string) string {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for name, text := range files {
		file, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(file, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// Where nobody looks at a terminal, only what is another is added.
func TestDevInAPipe(t *testing.T) {
	t.Parallel()
	output, at, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { output.Close() })
	a := newAuthor(t, greeter("greet", "greet"), at, "greet")
	at.Close()
	first := readUntil(t, output, "1 example, 0 failed\n")
	if !strings.HasPrefix(first, "following greet\n\ngreet\n  listed     greet: Greets.\n") || !strings.Contains(first, "\nok    greet: greets (") {
		t.Errorf("first: %s", first)
	}
	a.save("greet/greet.sh", "echo Goodbye\n")
	readUntil(t, output, "1 example, 1 failed\n")
	a.save("greet/SKILL.md", "---\nname: greet\ndescription: \"Greets everybody who is there.\"\nallowed_tools: Bash\n---\n")
	const want = `
changed: greet/SKILL.md
greet: about 3 → 8 tokens listed, N of resources

greet/SKILL.md:4:1: error: allowed_tools was read as allowed-tools [allowed-tools-spelling]
    spell the key allowed-tools

0 of 1 skill valid, 1 error, 0 warnings
FAIL  greet: greets
1 example, 1 failed
`
	got := regexp.MustCompile(`\d+( → \d+)? activated, \d+`).ReplaceAllString(readUntil(t, output, "1 failed\n"), "N")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// readUntil reads until what is read ends with a text.
func readUntil(t *testing.T, from *os.File, end string) string {
	t.Helper()
	var read strings.Builder
	for part := make([]byte, 4096); !strings.HasSuffix(read.String(), end); {
		n, err := from.Read(part)
		if err != nil {
			t.Fatalf("after %q: %v", read.String(), err)
		}
		read.Write(part[:n])
	}
	return read.String()
}

// TestDevAtATerminal holds what an author sees to testdata/golden.
func TestDevAtATerminal(t *testing.T) {
	t.Parallel()
	control, at := newTerminal(t)
	a := newAuthor(t, greeter("greet", "greet"), at, "greet")
	at.Close()
	var shown strings.Builder
	screen := func() { shown.WriteString(readUntil(t, control, "Ctrl-C ends.\r\n") + "--- a save\n") }
	screen()
	a.save("greet/greet.sh", "echo Goodbye\n")
	screen()
	a.save("greet/SKILL.md", "---\nname: greet\ndescription: Greets: everybody.\n---\nRun greet.sh.\n")
	screen()
	a.save("greet/greet.sh", "echo Hello\n")
	screen()
	a.save("greet/SKILL.md", "---\nname: greet\ndescription: \"Greets: \\e[2Jeverybody\"\nallowed-tools: [\n---\nRun greet.sh.\n")
	screen()
	text := strings.NewReplacer("\r\n", "\n", "\r", "<return>", "\x1b", "<esc>").Replace(shown.String())
	for pattern, name := range map[string]string{`\d\d:\d\d:\d\d`: "TIME", `\(\d+ ms\)`: "(N ms)", `about [\d→ ]+ tokens, of`: "about N tokens, of", `\d+ lines`: "N lines"} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, name)
	}
	file := filepath.Join("..", "..", "testdata", "golden", "dev-terminal.txt")
	if *update {
		testfiles.Write(t, file, text)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("the terminal shows something else (-want +got; make golden writes it):\n%s", diff)
	}
}
