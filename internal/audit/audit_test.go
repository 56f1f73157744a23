package audit_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// open opens a log that is closed at the end of the test.
func open(t testing.TB, dir string, opts audit.Options) *audit.Log {
	t.Helper()
	opts.Dir = dir
	log, err := audit.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log
}

// read returns what a log holds, and how many lines were broken.
func read(t testing.TB, dir string) (records []audit.Record, broken int) {
	t.Helper()
	reader, err := audit.NewReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for record, err := range reader.Records() {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	return records, reader.Broken
}

// files returns the names of the files in a directory.
func files(t testing.TB, dir, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRecordsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "audit")
	log := open(t, dir, audit.Options{})
	exit := 3
	whole := audit.Record{
		Event: audit.Call, Session: "stdio", Caller: "command line", Method: "tools/call", Tool: "exec", Skill: "csv", Digest: "sha256:abc",
		Input: json.RawMessage(`{"name":"csv"}`), Decision: "allow", Rule: "allowed-tools: default", Answer: "once", Granted: []string{"project review"},
		Hosts: []audit.Host{{Host: "api.example.com", Port: 443, Requests: 2, Refused: 1, Reason: "limit", Bytes: 99}}, HostsOmitted: 4, SecretsSent: []string{"KEY"},
		Outcome: audit.Failed, Error: "execution_failed", DurationMs: 1.5, Status: "exited", ExitCode: &exit, Workspace: "ws-0123",
		Artifacts: []audit.File{{Path: "out.csv", Size: 12, Digest: "sha256:def"}}, ArtifactsOmitted: 2,
		Changes: []audit.Changes{{ID: "cs-1", Of: "/home/me/work", Held: 1, Applied: []string{"a"}, Conflicts: []string{"b"}, Refused: []string{"c"}}},
		Backend: "local", Tier: "full",
	}
	if err := log.Append(whole); err != nil {
		t.Fatal(err)
	}
	entry, err := log.Begin(audit.Record{Event: audit.Call, Tool: "exec"})
	if err != nil {
		t.Fatal(err)
	}
	if records, _ := read(t, dir); len(records) != 2 || records[1].Outcome != audit.Unfinished {
		t.Errorf("while it runs the log has %+v", records)
	}
	if err := entry.End(audit.Record{Event: audit.Call, Tool: "exec", Outcome: audit.OK}); err != nil {
		t.Fatal(err)
	}
	records, broken := read(t, dir)
	if len(records) != 2 || broken != 0 {
		t.Fatalf("%d records and %d broken lines", len(records), broken)
	}
	first := records[0]
	if first.Version != 1 || len(first.ID) != 16 || len(first.Server) != 8 || first.Time.Location() != time.UTC || time.Since(first.Time) > time.Minute {
		t.Errorf("the record has %+v", first)
	}
	whole.Version, whole.ID, whole.Server, whole.Time = first.Version, first.ID, first.Server, first.Time
	if diff := cmp.Diff(whole, first); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if records[1].Outcome != audit.OK || records[1].ID == first.ID {
		t.Errorf("the second record is %+v", records[1])
	}
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{"": 0o700, "audit.jsonl": 0o600, "audit.lock": 0o600, "running": 0o700} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
				t.Errorf("%q: %v, %v", name, info.Mode(), err)
			}
		}
	}
	if left := files(t, dir, "running/*.json"); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, test := range []struct {
		opts audit.Options
		says string
	}{
		{audit.Options{Dir: "relative"}, "not absolute"},
		{audit.Options{}, "not absolute"},
		{audit.Options{Dir: dir, MaxBytes: 1}, "65536 to 1073741824 bytes, not 1"},
		{audit.Options{Dir: dir, MaxBytes: -1}, "65536"},
		{audit.Options{Dir: dir, MaxFiles: 1}, "2 to 1000 files, not 1"},
		{audit.Options{Dir: dir, MaxFiles: 1001}, "2 to 1000 files"},
		{audit.Options{Dir: dir, OnFailure: "ignore"}, `"ignore" is none of fail, continue`},
	} {
		if _, err := audit.Open(test.opts); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v gives %v, not %q", test.opts, err, test.says)
		}
	}
}

// The log stays within its bounds, and keeps the newest, each line whole, however
// many write to it.
func TestRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const writers, lines, maxBytes, maxFiles = 8, 100, 64 << 10, 3
	input, err := json.Marshal(map[string]string{"command": strings.Repeat("x", 200), "name": strings.Repeat("y", 200)})
	if err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	for writer := range writers {
		log := open(t, dir, audit.Options{MaxBytes: maxBytes, MaxFiles: maxFiles})
		writing.Go(func() {
			for line := range lines {
				r := audit.Record{Event: audit.Call, Tool: fmt.Sprint(writer), Skill: fmt.Sprint(line), Input: input, Outcome: audit.OK}
				if err := log.Append(r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	found := files(t, dir, "audit*.jsonl")
	if len(found) != maxFiles {
		t.Errorf("there are %q", found)
	}
	for _, name := range found {
		if info, err := os.Stat(name); err != nil || info.Size() > maxBytes || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	records, broken := read(t, dir)
	if broken != 0 || len(records) < 200 {
		t.Errorf("%d records and %d broken lines", len(records), broken)
	}
	last := map[string]int{}
	for _, r := range records {
		line := 0
		fmt.Sscan(r.Skill, &line)
		if before, seen := last[r.Tool]; seen && line != before+1 {
			t.Errorf("writer %s: line %d follows %d", r.Tool, line, before)
		}
		last[r.Tool] = line
	}
	for writer := range writers {
		if got, seen := last[fmt.Sprint(writer)]; seen && got != lines-1 {
			t.Errorf("the last line of writer %d is %d", writer, got)
		}
	}
}

// A line that a killed process could not finish costs no other.
func TestBrokenLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := open(t, dir, audit.Options{})
	record := audit.Record{Event: audit.Call, Tool: "exec", Outcome: audit.OK}
	current := filepath.Join(dir, "audit.jsonl")
	for _, broken := range []string{`{"v":1,"id":"torn`, "no json\n", `{"v":99,"time":"2026-01-01T00:00:00Z"}` + "\n", "null\n", strings.Repeat("x", 100_000) + "\n", "\n\n", "{}\n", strings.Repeat("y", 16<<10)} {
		if err := log.Append(record); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(current, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteString(broken)
		}
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Append(record); err != nil {
		t.Fatal(err)
	}
	if records, broken := read(t, dir); len(records) != 9 || broken != 7 {
		t.Errorf("%d records and %d broken lines", len(records), broken)
	}
}

// What comes from models and skills is one line of JSON, of a bounded length,
// that a terminal shows as it is.
func TestHostileText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := open(t, dir, audit.Options{})
	for _, text := range []string{
		"line\nbreak\r\n\x00\x1b[31m", "\u009b31m\u202e\u2066\u2028\u0085\u007f", "\xff\xfe\xc3", "<&>\"\\", strings.Repeat("\x01", 10_000), strings.Repeat("\xff", 10_000),
		strings.Repeat("é", 10_000), strings.Repeat("\u202e", 10_000),
	} {
		many := make([]string, 1000)
		artifacts, hosts := make([]audit.File, 1000), make([]audit.Host, 1000)
		for i := range many {
			many[i], artifacts[i], hosts[i] = text, audit.File{Path: text, Size: 1 << 40, Digest: text}, audit.Host{Host: text, Refused: 1, Reason: text}
		}
		input, err := json.Marshal(map[string]any{"name": text, text: text, "args": many[:40], "stdin": text})
		if err != nil {
			t.Fatal(err)
		}
		r := audit.Record{
			Event: audit.Event(text), Session: text, Caller: text, Method: text, Tool: text, Skill: text, Digest: text, Input: input,
			Decision: text, Rule: text, Answer: text, Granted: many, Hosts: hosts, SecretsSent: many, Outcome: audit.Outcome(text), Error: text, Status: text, Workspace: text,
			Artifacts: artifacts, Changes: []audit.Changes{{ID: text, Of: text, Applied: many, Conflicts: many, Refused: many}}, Backend: text, Tier: text,
		}
		if err := log.Append(r); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
		if len(r.Artifacts) != 1000 || len(r.Changes[0].Applied) != 1000 {
			t.Error("the caller's record was changed")
		}
	}
	content, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(content) {
		if len(line) > 16<<10 || !json.Valid(line) {
			t.Errorf("%d bytes, valid %v: %.200q", len(line), json.Valid(line), line)
		}
		if bytes.ContainsFunc(bytes.TrimSuffix(line, []byte("\n")), func(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u202e' || c == '\u2066' }) {
			t.Errorf("a terminal obeys %.200q", line)
		}
	}
	records, broken := read(t, dir)
	if len(records) != 8 || broken != 0 {
		t.Errorf("%d records and %d broken lines", len(records), broken)
	}
	for _, r := range records {
		if omitted := r.ArtifactsOmitted + len(r.Artifacts); omitted != 1000 {
			t.Errorf("%d artifacts are told of", omitted)
		}
		if len(r.Changes) == 0 { // there was no room for any
			continue
		}
		c := r.Changes[0]
		if told := c.Omitted + len(c.Applied) + len(c.Conflicts) + len(c.Refused); told != 3000 {
			t.Errorf("%d changes are told of", told)
		}
	}
}

// A reader sees the log as it was, whatever is rotated meanwhile, and files that
// were compressed by somebody else.
func TestReaderHasASnapshot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := open(t, dir, audit.Options{MaxBytes: 64 << 10, MaxFiles: 2})
	write := func(n int) {
		t.Helper()
		for range n {
			if err := log.Append(audit.Record{Event: audit.Call, Rule: strings.Repeat("r", 256), Outcome: audit.OK}); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(10)
	reader, err := audit.NewReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	write(1000) // which removes what the reader reads
	count := 0
	for _, err := range reader.Records() {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != 10 {
		t.Errorf("%d records", count)
	}
}

func TestNoLogIsEmpty(t *testing.T) {
	t.Parallel()
	if records, broken := read(t, filepath.Join(t.TempDir(), "none")); len(records) != 0 || broken != 0 {
		t.Errorf("%d records and %d broken lines", len(records), broken)
	}
}

func BenchmarkAppend(b *testing.B) {
	log := open(b, b.TempDir(), audit.Options{})
	r := audit.Record{Event: audit.Call, Method: "tools/call", Tool: "exec", Skill: "csv-profile", Outcome: audit.OK,
		Input: json.RawMessage(`{"name":"csv-profile","script":"scripts/profile_csv.py","args":["--sample"]}`)}
	for b.Loop() {
		if err := log.Append(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBeginEnd(b *testing.B) {
	log := open(b, b.TempDir(), audit.Options{})
	r := audit.Record{Event: audit.Call, Tool: "exec", Outcome: audit.OK, Input: json.RawMessage(`{"name":"csv-profile"}`)}
	for b.Loop() {
		entry, err := log.Begin(r)
		if err == nil {
			err = entry.End(r)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// Rotated files that somebody compressed are read in their place.
func TestCompressedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := open(t, dir, audit.Options{})
	if err := log.Append(audit.Record{Event: audit.Call, Tool: "new", Outcome: audit.OK}); err != nil {
		t.Fatal(err)
	}
	const line = `{"v":1,"id":"0123456789abcdef","time":"2026-01-01T00:00:00Z","event":"call","tool":"old","outcome":"ok"}` + "\n"
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	_, err := writer.Write([]byte(line))
	if err = errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"audit-2026-01-01T00-00-00.000000000-size.jsonl.gz": compressed.Bytes(),
		"audit-2026-01-02T00-00-00.000000000-size.jsonl.gz": compressed.Bytes()[:compressed.Len()-6],
		"audit-2026-01-03T00-00-00.000000000-size.jsonl.gz": []byte("no gzip"),
		"other.jsonl": []byte(line),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := audit.NewReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var got []string
	for record, err := range reader.Records() {
		if err != nil {
			got = append(got, "unreadable")
			continue
		}
		got = append(got, record.Tool)
	}
	if diff := cmp.Diff([]string{"old", "old", "unreadable", "unreadable", "new"}, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

// locked returns a log whose lock another process has.
func locked(t *testing.T) (dir string, log *audit.Log, lock *flock.Flock) {
	t.Helper()
	dir = t.TempDir()
	log = open(t, dir, audit.Options{})
	lock = flock.New(filepath.Join(dir, "audit.lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	return dir, log, lock
}

func TestLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	_, log, lock := locked(t)
	written := make(chan error)
	go func() { written <- log.Append(audit.Record{Event: audit.Call, Outcome: audit.OK}) }()
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

func TestLockIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "waits until the lock is given up for lost, 10 seconds")
	dir, log, lock := locked(t)
	err := log.Append(audit.Record{Event: audit.Call, Outcome: audit.OK})
	var failed *audit.Error
	if !errors.As(err, &failed) || failed.Reason() != "other processes do not let go of its lock" {
		t.Errorf("refused with %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if records, _ := read(t, dir); len(records) != 0 {
		t.Errorf("%d records", len(records))
	}
}

// BenchmarkAppendTogether measures lines of many who read at once.
func BenchmarkAppendTogether(b *testing.B) {
	log := open(b, b.TempDir(), audit.Options{})
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := log.Append(audit.Record{Event: audit.Read, Method: "resources/read", Input: []byte(`{"uri":"skill://tide/SKILL.md"}`)}); err != nil {
				b.Error(err)
			}
		}
	})
}
