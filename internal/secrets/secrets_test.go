package secrets_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zalando/go-keyring"

	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// TestMain is also the program that sources name: what it does, its first
// argument says.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "as-source" {
		asSource(os.Args[2], os.Args[3:])
		return
	}
	keyring.MockInit()
	os.Exit(m.Run())
}

func asSource(what string, args []string) {
	if strings.HasPrefix(what, "keyring-") {
		if err := asKeyringUser(what, args); err != nil {
			fmt.Print(err)
			os.Exit(1)
		}
		return
	}
	switch what {
	case "print":
		fmt.Print(args[0])
	case "line":
		fmt.Println(args[0])
	case "arguments":
		fmt.Printf("%q", args)
	case "directory":
		dir, _ := os.Getwd()
		fmt.Print(dir)
	case "fail":
		fmt.Print("what-it-says-before-it-fails")
		fmt.Fprint(os.Stderr, "what-it-complains-of")
		os.Exit(3)
	case "flood":
		for range 1 << 20 {
			fmt.Println(strings.Repeat("x", 1<<10))
		}
	case "count": // and wait for the others, until there is a file
		file, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString("asked\n")
		}
		for ; err == nil; time.Sleep(time.Millisecond) {
			if _, gone := os.Stat(args[1]); gone == nil {
				break
			}
		}
		fmt.Print("value-of-a-program")
	}
}

// source returns the text of a source that this program is.
func source(t testing.TB, words ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := "command:'" + self + "' as-source"
	for _, word := range words {
		text += " '" + word + "'"
	}
	return text
}

func open(t testing.TB, opts secrets.Options) *secrets.Store {
	t.Helper()
	if opts.Redact == nil {
		opts.Redact = &redact.Set{}
	}
	store := secrets.New(opts)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func parse(t testing.TB, text string) secrets.Source {
	t.Helper()
	parsed, err := secrets.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return parsed
}

func TestSources(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"env:API_TOKEN", "file:/run/secrets/token", "file:~/.config/token with spaces", "command:pass show api/token", "command:/usr/bin/op read 'op://a vault/item/field'",
		`command:"~/bin/x" --flag=value "two words" 'and $three'`, "command:~/bin/token", "keyring:example.com/me", "keyring:https://example.com/api/me@example.com",
	} {
		parsed, err := secrets.Parse(text)
		if err != nil || parsed.String() != text {
			t.Errorf("%s: %q, %v", text, parsed, err)
		}
		if again, err := secrets.Parse(parsed.String()); err != nil || again != parsed {
			t.Errorf("%s becomes %q, %v", text, again, err)
		}
	}
	if got := secrets.Environment("API_TOKEN"); got != parse(t, "env:API_TOKEN") {
		t.Errorf("%q", got)
	}
}

// What is no source is refused, and not repeated: it may be the secret itself.
func TestWhatIsNoSource(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                                         "one of env:NAME",
		"sk-live-0123456789":                       "one of env:NAME",
		"sk-live:0123456789":                       "one of env:NAME",
		"ENV:API_TOKEN":                            "one of env:NAME",
		"env:":                                     "name of a variable",
		"env:sk-live=0123456789":                   "name of a variable",
		"file:":                                    "absolute path",
		"file:token-0123456789":                    "absolute path",
		"file:~other/token-0123456789":             "absolute path",
		"file:/a\x000123456789":                    "control character",
		"command:":                                 "needs a program",
		"command:# 0123456789":                     "needs a program",
		"command:''":                               "needs a program",
		"command:bin/0123456789":                   "name of a program on PATH",
		"command:./0123456789":                     "name of a program on PATH",
		"command:echo $0123456789":                 "no shell reads",
		"command:echo ${X}0123456789":              "no shell reads",
		`command:echo "$(cat 0123456789)"`:         "no shell reads",
		"command:echo `cat 0123456789`":            "no shell reads",
		"command:cat <0123456789":                  "no shell reads",
		"command:cat >0123456789":                  "no shell reads",
		"command:echo 0123456789 | base64":         "no shell reads",
		"command:echo 0123456789 && true":          "no shell reads",
		"command:echo 0123456789; true":            "no shell reads",
		"command:echo 0123456789;":                 "no shell reads",
		"command:echo 0123456789 &":                "no shell reads",
		"command:! echo 0123456789":                "no shell reads",
		"command:X=0123456789 echo":                "no shell reads",
		"command:X=0123456789":                     "no shell reads",
		"command:echo 0123456789*":                 "no shell reads",
		"command:echo 0123456789?":                 "no shell reads",
		"command:echo [0123456789]":                "no shell reads",
		"command:echo {0123456789,1}":              "no shell reads",
		"command:echo \\0123456789":                "no shell reads",
		"command:echo \"\\0123456789\"":            "no shell reads",
		"command:echo '0123456789":                 "no shell reads",
		"command:echo $'0123456789'":               "no shell reads",
		"command:echo 0123456789 # comment":        "no shell reads",
		"command:if true; then 0123456789; fi":     "no shell reads",
		"command:echo\n0123456789":                 "control character",
		"keyring:0123456789":                       "SERVICE/ACCOUNT",
		"keyring:/0123456789":                      "SERVICE/ACCOUNT",
		"keyring:0123456789/":                      "SERVICE/ACCOUNT",
		"env:" + strings.Repeat("0123456789", 500): "longer than 4096 bytes",
	} {
		_, err := secrets.Parse(text)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "0123456789") {
			t.Errorf("%.60s: %v, not %q", text, err, says)
		}
	}
}

func TestValuesOfAllSources(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("API_TOKEN", "value-of-a-variable")
	testfiles.WriteMode(t, filepath.Join(home, "token"), "value-of-a-file\n", 0o600)
	testfiles.WriteMode(t, filepath.Join(home, "dos"), "value-of-a-file\r\n", 0o600)
	if err := os.Symlink("token", filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	if err := keyring.Set("https://example.com/api", "me", "value-of-a-keyring"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	set := &redact.Set{}
	store := open(t, secrets.Options{Redact: set})
	for text, want := range map[string]string{
		"env:API_TOKEN":                               "value-of-a-variable",
		"file:" + filepath.Join(home, "token"):        "value-of-a-file",
		"file:~/token":                                "value-of-a-file",
		"file:~/dos":                                  "value-of-a-file",
		"file:~/link":                                 "value-of-a-file",
		source(t, "line", "value-of-a-program"):       "value-of-a-program",
		source(t, "print", "value, as-it-is"):         "value, as-it-is",
		source(t, "arguments", "a b", "$HOME", "~/x"): `["a b" "$HOME" "~/x"]`,
		"keyring:https://example.com/api/me":          "value-of-a-keyring",
	} {
		got, err := store.Value(t.Context(), "NAME", parse(t, text))
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
		if shown := set.String("it is " + want); shown != "it is [secret NAME]" {
			t.Errorf("%s: %q is shown", text, shown)
		}
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	for name, content := range map[string]string{
		"empty": "", "newline": "\n", "two": "first-line-of-it\nsecond-line", "nul": "before\x00after-it", "escape": "\x1b[31mcoloured", "latin1": "caf\xe9-caf\xe9", "short": "0123456",
		"long": strings.Repeat("0123456789abcdef", 4<<10) + "x", "spaces": " 0123456789 ", "word": "changeme\n", "common": "structuredContent", "Password": "Password",
		"repeated": "xxxxxxxxxxxxxxxx",
	} {
		testfiles.WriteMode(t, filepath.Join(home, name), content, 0o600)
		t.Setenv("V_"+strings.ToUpper(name), strings.ReplaceAll(content, "\x00", "\x01"))
	}
	store := open(t, secrets.Options{})
	for text, want := range map[string]struct {
		code secrets.Code
		says string
	}{
		"env:NOT_SET_AT_ALL":               {secrets.NotFound, "the variable is not set"},
		"env:V_EMPTY":                      {secrets.Unusable, "it is empty"},
		"env:V_TWO":                        {secrets.Unusable, "more than one line"},
		"file:~/missing":                   {secrets.NotFound, "the file is not there"},
		"file:~/":                          {},
		"file:" + home:                     {secrets.SourceFailed, "no regular file"},
		"file:/dev/zero":                   {secrets.SourceFailed, "no regular file"},
		"file:~/empty":                     {secrets.Unusable, "it is empty"},
		"file:~/newline":                   {secrets.Unusable, "it is empty"},
		"file:~/two":                       {secrets.Unusable, "more than one line"},
		"file:~/nul":                       {secrets.Unusable, "control characters"},
		"file:~/escape":                    {secrets.Unusable, "control characters"},
		"file:~/latin1":                    {secrets.Unusable, "no text in UTF-8"},
		"file:~/short":                     {secrets.Unusable, "shorter than 8 bytes"},
		"file:~/long":                      {secrets.Unusable, "longer than 65536 bytes"},
		"file:~/spaces":                    {secrets.Unusable, "begins or ends with a space"},
		"file:~/word":                      {secrets.Unusable, "a common word"},
		"file:~/common":                    {secrets.Unusable, "a common word"},
		"file:~/Password":                  {secrets.Unusable, "a common word"},
		"file:~/repeated":                  {secrets.Unusable, "a common word"},
		"command:there-is-no-such-program": {secrets.NotFound, "no such program"},
		source(t, "fail"):                  {secrets.SourceFailed, "the program failed (exit status 3)"},
		source(t, "print", ""):             {secrets.Unusable, "it is empty"},
		source(t, "flood"):                 {secrets.Unusable, "longer than 65536 bytes"},
		"keyring:example.com/nobody":       {secrets.NotFound, "no such entry"},
	} {
		if want.code == "" {
			continue
		}
		value, err := store.Value(t.Context(), "API_TOKEN", parse(t, text))
		var failed *secrets.Error
		if !errors.As(err, &failed) || value != "" {
			t.Errorf("%s: %q, %v", text, value, err)
			continue
		}
		if failed.Code != want.code || failed.Name != "API_TOKEN" || !strings.Contains(failed.Reason, want.says) || !strings.HasSuffix(failed.Hint, ".") {
			t.Errorf("%s: %+v, not %s %q", text, *failed, want.code, want.says)
		}
		for _, secret := range []string{home, "what-it-", "0123456", "first-line", "as-source"} {
			if strings.Contains(failed.Error()+failed.Hint, secret) {
				t.Errorf("%s: %q shows %q", text, failed.Error(), secret)
			}
		}
	}
}

// Files are read each time; what programs say is kept, and forgotten.
// Where the server is may be a project of somebody else's, with files that
// programs take for their own: modules of Python, settings of git or npm.
func TestProgramsAreNotRunInTheProject(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, test := range []struct{ name, home, want string }{
		{"a home", home, home},
		{"no home", filepath.Join(home, "missing"), filepath.Dir(self)},
		{"a relative home", ".", filepath.Dir(self)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("HOME", test.home)
			t.Setenv("USERPROFILE", test.home)
			t.Chdir(t.TempDir())
			value, err := open(t, secrets.Options{}).Value(t.Context(), "KEY", parse(t, source(t, "directory")))
			if err != nil {
				t.Fatal(err)
			}
			want, err := filepath.EvalSymlinks(test.want)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := filepath.EvalSymlinks(value); err != nil || got != want {
				t.Errorf("it is run in %q, want %q: %v", value, want, err)
			}
		})
	}
}

func TestHowLongValuesAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	asked, done := filepath.Join(dir, "asked"), filepath.Join(dir, "done")
	testfiles.WriteMode(t, path, "first-value", 0o600)
	testfiles.WriteMode(t, done, "", 0o600)
	store := open(t, secrets.Options{})
	value := func(store *secrets.Store, text string) string {
		t.Helper()
		got, err := store.Value(t.Context(), "NAME", parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	times := func() int {
		content, err := os.ReadFile(asked)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(content, []byte("\n"))
	}
	if got := value(store, "file:"+path); got != "first-value" {
		t.Error(got)
	}
	testfiles.WriteMode(t, path, "second-value", 0o600)
	if got := value(store, "file:"+path); got != "second-value" {
		t.Error(got)
	}
	program := source(t, "count", asked, done)
	value(store, program)
	value(store, program)
	if n := times(); n != 1 {
		t.Errorf("the program was asked %d times", n)
	}
	forgetful := open(t, secrets.Options{Keep: -1})
	value(forgetful, program)
	value(forgetful, program)
	if n := times(); n != 3 {
		t.Errorf("the program was asked %d times", n)
	}
	brief := open(t, secrets.Options{Keep: time.Nanosecond})
	for before := times(); times() < before+2; { // it is forgotten some time
		value(brief, program)
	}
}

// Any number of runs that want a value at once have the user asked once, also
// where one of them goes away.
func TestProgramsAreAskedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asked, done := filepath.Join(dir, "asked"), filepath.Join(dir, "done")
	store := open(t, secrets.Options{})
	program := parse(t, source(t, "count", asked, done))
	impatient, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := store.Value(impatient, "NAME", program)
		left <- err
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(asked); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("the program was not started")
		}
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			if got, err := store.Value(t.Context(), "NAME", program); err != nil || got != "value-of-a-program" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	testfiles.WriteMode(t, done, "", 0o600)
	waiting.Wait()
	if content, err := os.ReadFile(asked); err != nil || string(content) != "asked\n" {
		t.Errorf("%q, %v", content, err)
	}
}

// A program that hangs is killed, with what it started.
func TestProgramsThatHang(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, secrets.Options{Timeout: 200 * time.Millisecond})
	_, err := store.Value(t.Context(), "NAME", parse(t, source(t, "count", filepath.Join(dir, "asked"), filepath.Join(dir, "never"))))
	var failed *secrets.Error
	if !errors.As(err, &failed) || failed.Code != secrets.SourceTimeout || !strings.Contains(failed.Hint, "terminal") {
		t.Errorf("%v", err)
	}
	closed := secrets.New(secrets.Options{Redact: &redact.Set{}})
	ended := make(chan error, 1)
	go func() {
		_, err := closed.Value(context.Background(), "NAME", parse(t, source(t, "count", filepath.Join(dir, "again"), filepath.Join(dir, "never"))))
		ended <- err
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "again")); err == nil || time.Now().After(deadline) {
			break
		}
	}
	_ = closed.Close()
	if err := <-ended; !errors.As(err, &failed) || failed.Code != secrets.SourceFailed {
		t.Errorf("%v", err)
	}
}

func TestLearn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testfiles.WriteMode(t, filepath.Join(dir, "token"), "value-of-a-file\n", 0o600)
	testfiles.WriteMode(t, filepath.Join(dir, "done"), "", 0o600)
	set := &redact.Set{}
	secrets.Learn(set, "FILE", parse(t, "file:"+filepath.Join(dir, "token")))
	secrets.Learn(set, "MISSING", parse(t, "file:"+filepath.Join(dir, "missing")))
	secrets.Learn(set, "PROGRAM", parse(t, source(t, "count", filepath.Join(dir, "asked"), filepath.Join(dir, "done"))))
	if got := set.String("value-of-a-file, value-of-a-program"); got != "[secret FILE], value-of-a-program" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "asked")); err == nil {
		t.Error("the user was asked")
	}
}

func TestFilesThatOthersCanRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testfiles.WriteMode(t, filepath.Join(dir, "open"), "value-of-a-file", 0o644)
	testfiles.WriteMode(t, filepath.Join(dir, "closed"), "value-of-a-file", 0o600)
	var log bytes.Buffer
	store := open(t, secrets.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, name := range []string{"open", "closed", "open"} {
		if _, err := store.Value(t.Context(), "NAME", parse(t, "file:"+filepath.Join(dir, name))); err != nil {
			t.Error(err)
		}
	}
	if strings.Count(log.String(), "others can read") != 1 || !strings.Contains(log.String(), "/open") || strings.Contains(log.String(), "value-of") {
		t.Errorf("%s", log.String())
	}
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	store, other := open(t, secrets.Options{}), open(t, secrets.Options{})
	for _, value := range []string{
		"sk-ant-api03-abcDEF0123456789-_abcDEF", "ghp_0123456789abcdefABCDEF0123456789abcd", "xoxb-123456789012-abcdefABCDEF", "AKIAIOSFODNN7EXAMPLE",
		"d41d8cd98f00b204e9800998ecf8427e", "D41D8CD98F00B204E9800998ECF8427E", "550e8400-e29b-41d4-a716-446655440000", "c2VjcmV0L3Rva2VuK3Rlc3Q9PT0=",
		"0123456789012345678901234567", "zürich-passwort-日本-lang-genug",
	} {
		made := store.Placeholder("NAME", value)
		if made == value || strings.Contains(made, value) || len(made) != len(value) {
			t.Errorf("%q for %q", made, value)
		}
		if diff := cmp.Diff(shape(value), shape(made)); diff != "" {
			t.Errorf("%q for %q (-want +got):\n%s", made, value, diff)
		}
		if store.Placeholder("NAME", value) != made || store.Placeholder("OTHER", value) == made || other.Placeholder("NAME", value) == made {
			t.Errorf("%q is not of the secret and the store alone", made)
		}
		if kept := len(commonPrefix(value, made)); kept > 16 {
			t.Errorf("%q has %d bytes of %q", made, kept, value)
		}
	}
	for _, prefix := range []string{"sk-ant-api03-", "ghp_", "xoxb-", "AKIA"} {
		if made := store.Placeholder("NAME", prefix+"0123456789abcdefghij"); !strings.HasPrefix(made, prefix) {
			t.Errorf("%q for %s…", made, prefix)
		}
	}
	for _, value := range []string{"abcdefgh", "01234567", "--------1", "........", "secret_0", "a-b-c-d-e"} {
		if made := store.Placeholder("NAME", value); len(made) < 14 || strings.Contains(made, value) {
			t.Errorf("%q for %q can be guessed", made, value)
		}
	}
}

func commonPrefix(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// shape has a character for each kind of one.
func shape(text string) string {
	hex := strings.Trim(text, "0123456789abcdef-") == "" || strings.Trim(text, "0123456789ABCDEF-") == ""
	return string(bytes.Map(func(c rune) rune {
		switch {
		case hex && c != '-':
			return 'h'
		case '0' <= c && c <= '9':
			return '0'
		case 'a' <= c && c <= 'z':
			return 'a'
		case 'A' <= c && c <= 'Z':
			return 'A'
		}
		return c
	}, []byte(asciiOnly(text))))
}

// asciiOnly has a letter for each byte of the others.
func asciiOnly(text string) string {
	bytes := []byte(text)
	for i, b := range bytes {
		if b >= 0x80 {
			bytes[i] = 'a'
		}
	}
	return string(bytes)
}
