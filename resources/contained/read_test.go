package contained_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

// mixed has characters of widths 1 3 1 4 1 3 1, so 14 bytes.
const mixed = "a€b𝄞c\uFFFDd"

const (
	letters = "abcdefghij"
	binary  = "\x00\x01" + letters
)

var pages = []struct {
	name    string
	give    contained.Range
	want    string
	offset  int64
	next    int64
	binary  bool
	comment string
}{
	{name: "letters.txt", want: letters},
	{name: "./letters.txt", want: letters},
	{name: "letters.txt", give: contained.Range{Length: 4}, want: "abcd", next: 4},
	{name: "letters.txt", give: contained.Range{Offset: 4, Length: 4}, want: "efgh", offset: 4, next: 8},
	{name: "letters.txt", give: contained.Range{Offset: 8, Length: 4}, want: "ij", offset: 8},
	{name: "letters.txt", give: contained.Range{Offset: 6, Length: 4}, want: "ghij", offset: 6},
	{name: "letters.txt", give: contained.Range{Offset: 10}, want: "", offset: 10},
	{name: "letters.txt", give: contained.Range{Limit: 3}, want: "abc", next: 3},
	{name: "letters.txt", give: contained.Range{Limit: 3, Length: 5}, want: "abc", next: 3},
	{name: "letters.txt", give: contained.Range{Limit: 5, Length: 3}, want: "abc", next: 3},
	{name: "letters.txt", give: contained.Range{Length: math.MaxInt64, Limit: math.MaxInt64}, want: letters},
	{name: "letters.txt", give: contained.Range{Offset: 9, Length: math.MaxInt64}, want: "j", offset: 9},
	{name: "empty.txt", want: ""},
	{name: "bom.md", want: "\uFEFF# Title\r\n"},

	{name: "mixed.txt", want: mixed},
	{name: "mixed.txt", give: contained.Range{Length: 3}, want: "a", next: 1, comment: "cut in €"},
	{name: "mixed.txt", give: contained.Range{Length: 4}, want: "a€", next: 4},
	{name: "mixed.txt", give: contained.Range{Offset: 2, Length: 3}, want: "€b", offset: 1, next: 5, comment: "begins in €"},
	{name: "mixed.txt", give: contained.Range{Offset: 3, Length: 1}, want: "€", offset: 1, next: 4, comment: "ends with it"},
	{name: "mixed.txt", give: contained.Range{Offset: 5, Length: 1}, want: "𝄞", offset: 5, next: 9, comment: "never empty"},
	{name: "mixed.txt", give: contained.Range{Offset: 8, Length: 1}, want: "𝄞", offset: 5, next: 9},
	{name: "mixed.txt", give: contained.Range{Offset: 8, Length: 4}, want: "𝄞c", offset: 5, next: 10, comment: "cut in U+FFFD"},
	{name: "mixed.txt", give: contained.Range{Offset: 11}, want: "\uFFFDd", offset: 10},

	{name: "binary", want: binary, binary: true},
	{name: "binary", give: contained.Range{Offset: 1, Length: 3}, want: "\x01ab", offset: 1, next: 4},
	{name: "nul.txt", want: "abc\x00def", binary: true},
	{name: "nul.txt", give: contained.Range{Length: 3}, want: "abc", next: 3, comment: "text as far as it goes"},
	{name: "latin.txt", want: "caf\xe9!", binary: true},
	{name: "torn.txt", want: "abc\xe2\x82", binary: true},
	{name: "torn.txt", give: contained.Range{Offset: 4}, want: "\x82", offset: 4, binary: true},
}

func TestRead(t *testing.T) {
	t.Parallel()
	opened := filetest.Open(t, filetest.Plant(t, map[string]string{
		"letters.txt": letters, "binary": binary, "mixed.txt": mixed, "empty.txt": "", "bom.md": "\uFEFF# Title\r\n",
		"torn.txt": "abc\xe2\x82", "latin.txt": "caf\xe9!", "nul.txt": "abc\x00def",
	}), contained.Options{})
	for _, test := range pages {
		got, err := filetest.Read(opened, test.name, test.give)
		if err != nil {
			t.Errorf("Read(%s, %+v): %v", test.name, test.give, err)
			continue
		}
		if string(got.Data) != test.want || got.Offset != test.offset || got.Next != test.next || got.Text == test.binary {
			t.Errorf("Read(%s, %+v) = %q at %d, next %d, text %v; want %q at %d, next %d, text %v (%s)",
				test.name, test.give, got.Data, got.Offset, got.Next, got.Text,
				test.want, test.offset, test.next, !test.binary, test.comment)
		}
		whole, err := opened.ReadAll(test.name, 0)
		if err != nil || got.Size != int64(len(whole.Data)) || got.Path != filepath.Clean(test.name) {
			t.Errorf("Read(%s) gives path %s and size %d; ReadAll gives %d bytes, %v", test.name, got.Path, got.Size, len(whole.Data), err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	opened := filetest.Open(t, filetest.Plant(t, map[string]string{"dir/file.txt": "0123456789", "__pycache__/x.pyc": "x"}), contained.Options{})
	tests := []struct {
		name string
		give contained.Range
		want contained.Rule
	}{
		{"missing", contained.Range{}, contained.NotFound},
		{"dir/missing", contained.Range{}, contained.NotFound},
		{"DIR\t/file.txt", contained.Range{}, contained.NotFound},
		{".", contained.Range{}, contained.IsDirectory},
		{"dir", contained.Range{}, contained.IsDirectory},
		{"dir/", contained.Range{}, contained.IsDirectory},
		{"dir/file.txt/x", contained.Range{}, contained.NotDirectory},
		{"__pycache__/x.pyc", contained.Range{}, contained.NotFound},
		{strings.Repeat("x", 300), contained.Range{}, contained.Invalid},
		{"dir/file.txt", contained.Range{Offset: -1}, contained.OutOfRange},
		{"dir/file.txt", contained.Range{Offset: math.MinInt64}, contained.OutOfRange},
		{"dir/file.txt", contained.Range{Length: -1}, contained.OutOfRange},
		{"dir/file.txt", contained.Range{Limit: -1}, contained.OutOfRange},
		{"dir/file.txt", contained.Range{Offset: 11}, contained.OutOfRange},
		{"dir/file.txt", contained.Range{Offset: 1 << 40}, contained.OutOfRange},
		{"dir/file.txt", contained.Range{Offset: math.MaxInt64}, contained.OutOfRange},
		{"dir/file.txt", contained.Range{Offset: math.MaxInt64, Length: math.MaxInt64}, contained.OutOfRange},
	}
	for _, test := range tests {
		_, err := filetest.Read(opened, test.name, test.give)
		filetest.WantRule(t, err, test.want)
		if test.want == contained.OutOfRange && !strings.Contains(err.Error(), "10 bytes") {
			t.Errorf("%v does not say how long the file is", err)
		}
	}
}

func TestReadAll(t *testing.T) {
	t.Parallel()
	opened := filetest.Open(t, filetest.Plant(t, map[string]string{"ten.txt": "0123456789"}), contained.Options{})
	for _, limit := range []int64{0, -1, 10, 11, math.MaxInt64} {
		got, err := opened.ReadAll("ten.txt", limit)
		if err != nil || string(got.Data) != "0123456789" || got.Size != 10 || !got.Text || got.Next != 0 || got.MIME != "text/plain" {
			t.Errorf("ReadAll with limit %d = %+v, %v", limit, got, err)
		}
	}
	_, err := opened.ReadAll("ten.txt", 9)
	filetest.WantRule(t, err, contained.TooLarge)
	_, err = opened.ReadAll(".", 9)
	filetest.WantRule(t, err, contained.IsDirectory)
}

// A sparse file of 1 GiB costs no more than the page of it that is read.
func TestReadSparseFile(t *testing.T) {
	t.Parallel()
	const size = 1 << 30
	dir := filetest.Plant(t, nil)
	host := filepath.Join(dir, "sparse.bin")
	testfiles.Write(t, host, "begin")
	if err := os.Truncate(host, size); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	opened := filetest.Open(t, dir, contained.Options{})
	got, err := filetest.Read(opened, "sparse.bin", contained.Range{})
	if err != nil || got.Size != size || len(got.Data) != 100_000 || got.Next != 100_000 || got.Text {
		t.Errorf("the first page has %d bytes of %d, next %d, text %v, %v", len(got.Data), got.Size, got.Next, got.Text, err)
	}
	got, err = filetest.Read(opened, "sparse.bin", contained.Range{Length: size, Limit: size})
	if err != nil || len(got.Data) != contained.MaxReadBytes || got.Next != contained.MaxReadBytes {
		t.Errorf("the largest page has %d bytes, next %d, %v", len(got.Data), got.Next, err)
	}
	got, err = filetest.Read(opened, "sparse.bin", contained.Range{Offset: size - 10})
	if err != nil || len(got.Data) != 10 || got.Next != 0 {
		t.Errorf("the last page has %d bytes, next %d, %v", len(got.Data), got.Next, err)
	}
	_, err = opened.ReadAll("sparse.bin", 0)
	filetest.WantRule(t, err, contained.TooLarge)
}

// A file that grows while it is read is read up to the limit and no further.
func TestReadGrowingFile(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"growing.log": "begin\n"})
	opened := filetest.Open(t, dir, contained.Options{})
	file, err := os.OpenFile(filepath.Join(dir, "growing.log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for block := bytes.Repeat([]byte("line\n"), 1000); ; {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			// As long as it is bounded, the file need not be.
			if info, err := file.Stat(); err == nil && info.Size() > 32<<20 {
				continue
			}
			if _, err := file.Write(block); err != nil {
				stopped <- err
				return
			}
		}
	}()
	for range 200 {
		got, err := filetest.Read(opened, "growing.log", contained.Range{Limit: 100_000})
		if err != nil || len(got.Data) > 100_000 || got.Size < int64(len(got.Data)) {
			t.Errorf("Read gave %d bytes of %d, %v", len(got.Data), got.Size, err)
		}
		if whole, err := opened.ReadAll("growing.log", 50_000); err == nil {
			if len(whole.Data) > 50_000 {
				t.Errorf("ReadAll gave %d bytes", len(whole.Data))
			}
		} else {
			filetest.WantRule(t, err, contained.TooLarge)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"file": "x"})
	_, err := contained.Open(filepath.Join(dir, "missing"), contained.Options{})
	filetest.WantRule(t, err, contained.NotFound)
	_, err = contained.Open("", contained.Options{})
	filetest.WantRule(t, err, contained.Invalid)
	if _, err = contained.Open(filepath.Join(dir, "file"), contained.Options{}); err == nil {
		t.Error("a file was opened as a directory")
	}
}

func TestClosedDir(t *testing.T) {
	t.Parallel()
	opened, err := contained.Open(filetest.Plant(t, map[string]string{"file": "x"}), contained.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = filetest.Read(opened, "file", contained.Range{})
	filetest.WantRule(t, err, contained.Unreadable)
}

func TestIsDir(t *testing.T) {
	t.Parallel()
	opened := filetest.Open(t, filetest.Plant(t, map[string]string{"dir/file": "x", "node_modules/x/y": "y"}), contained.Options{})
	for name, want := range map[string]bool{".": true, "dir": true, "dir/": true, "dir/file": false} {
		if got, err := opened.IsDir(name); err != nil || got != want {
			t.Errorf("IsDir(%s) = %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"missing", "node_modules", "node_modules/x"} {
		_, err := opened.IsDir(name)
		filetest.WantRule(t, err, contained.NotFound)
	}
}

// The pages that Next leads through make up the file, whatever is in it and
// however long they are, and each moves on.
func FuzzPages(f *testing.F) {
	seeds := []string{
		"", "a", "plain text", "a€b𝄞c\uFFFDd", "€€€€", "\xe2\x82", "\x82\xac€", "\xf0\x9d\x84\x9e\xf0\x9d\x84",
		"\x00€\x00€", "\xff\xfe\x00", "𝄞𝄞\x00𝄞", strings.Repeat("é", 100),
	}
	filetest.Seeded(f, len(seeds))
	for i, seed := range seeds {
		f.Add([]byte(seed), int64(i%5+1))
	}
	dir := filetest.Plant(f, nil)
	opened := filetest.Open(f, dir, contained.Options{})
	f.Fuzz(func(t *testing.T, data []byte, limit int64) {
		if limit < 1 || limit > 1<<20 {
			limit = 1 + limit&0xFF
		}
		testfiles.Write(t, filepath.Join(dir, "pages"), string(data))
		var pages []byte
		for offset := int64(0); ; {
			page, err := filetest.Read(opened, "pages", contained.Range{Offset: offset, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			if page.Offset != offset || page.Size != int64(len(data)) || int64(len(page.Data)) > limit+3 {
				t.Fatalf("page at %d begins at %d and has %d bytes of %d", offset, page.Offset, len(page.Data), page.Size)
			}
			pages = append(pages, page.Data...)
			if page.Next == 0 {
				break
			}
			if page.Next != offset+int64(len(page.Data)) || page.Next <= offset {
				t.Fatalf("page at %d has %d bytes and leads to %d", offset, len(page.Data), page.Next)
			}
			offset = page.Next
		}
		if !bytes.Equal(pages, data) {
			t.Errorf("pages of %d bytes make %q of %q", limit, pages, data)
		}
	})
}
