package search_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/server/internal/search"
)

// subjects are what the skills that a test makes work on, and what else users
// call it.
var subjects = map[string]string{
	"invoice": "invoices, bills and receipts", "contract": "contracts, leases and other agreements",
	"recipe": "recipes with their ingredients", "podcast": "podcast episodes, interviews and other recordings",
	"photo": "photos and pictures", "map": "maps, routes and places", "calendar": "calendars and appointments",
	"budget": "budgets, expenses and spending", "survey": "surveys, questionnaires and their answers",
	"resume": "résumés and CVs of candidates", "patent": "patents and their claims", "poem": "poems and song lyrics",
	"minutes": "minutes of meetings", "subtitle": "subtitles and captions", "post": "posts for social media",
	"sensor": "measurements and readings of sensors", "mail": "mails and mail threads", "ticket": "tickets and bug reports",
	"lesson": "lessons, lesson plans and their vocabulary", "inventory": "inventories and stock lists",
}

// tasks are what those skills do.
var tasks = map[string]string{
	"extract":   "Extracts data from %s: names, dates, amounts. Use when the user wants parts of them pulled out into a table.",
	"translate": "Translates %s into another language, such as French, German or Spanish, and keeps the layout.",
	"compare":   "Compares %s and lists what changed between two versions, or where they differ.",
	"summarise": "Summarises %s in a few sentences. Use when the user asks for a summary, the gist, or what was decided.",
	"schedule":  "Plans when %s are due and reminds of them. Use when the user wants to schedule them weekly or every month, or to meet about them.",
	"validate":  "Checks %s for mistakes, faults and gaps. Use when the user asks whether they are complete and correct, or wants them validated.",
	"chart":     "Draws charts of %s. Use when the user wants a plot, a graph or a diagram.",
	"archive":   "Files old %s away by year. Use when the user wants those that have ended archived or put away.",
	"anonymise": "Removes names and other personal data from %s, or hides them, before others see them.",
	"publish":   "Puts %s online, on a site or a feed. Use when the user wants them published.",
}

// plant writes the skills of every subject and every task below a directory.
func plant(t testing.TB, dir string) {
	t.Helper()
	files := make(map[string]string)
	for subject, called := range subjects {
		for task, does := range tasks {
			name := subject + "-" + task
			files[name+"/SKILL.md"] = fmt.Sprintf("---\nname: %s\ndescription: >-\n  %s\n---\nSteps.\n", name, fmt.Sprintf(does, called))
		}
	}
	testfiles.Fill(t, dir, files)
}

func open(t testing.TB, roots ...string) *catalog.Catalog {
	t.Helper()
	var opts catalog.Options
	for _, root := range roots {
		opts.Roots = append(opts.Roots, catalog.Root{Path: root})
	}
	c, err := catalog.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// samples are the roots of the sample skills.
func samples(t testing.TB) []string {
	t.Helper()
	var roots []string
	for _, name := range []string{"valid", "project", "packages", "granted"} {
		root, err := filepath.Abs(filepath.Join("../../../testdata/skills", name))
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, root)
	}
	return roots
}

func names(skills []*catalog.Skill) []string {
	var names []string
	for _, skill := range skills {
		names = append(names, skill.Name)
	}
	return names
}

// TestRelevance: users' words find the skill that does what they ask.
func TestRelevance(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir)
	snapshot := open(t, append(samples(t), dir)...).Snapshot()
	if n := len(snapshot.Skills()); n < len(subjects)*len(tasks)+15 {
		t.Fatalf("there are %d skills", n)
	}
	file, err := os.Open("testdata/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var index search.Index
	asked, first, among := 0, 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		query, want := strings.TrimSpace(line[:at]), line[at+1:]
		if _, ok := snapshot.Lookup(want); !ok {
			t.Fatalf("there is no skill %s", want)
		}
		found, _ := index.Find(snapshot, query, 0, 5)
		asked++
		if len(found) > 0 && found[0].Name == want {
			first++
		} else {
			t.Logf("%q: %q, not %s", query, names(found), want)
		}
		if slices.Contains(names(found), want) {
			among++
		}
	}
	t.Logf("of %d queries %d find the right skill first (%.2f), %d among five (%.2f)",
		asked, first, float64(first)/float64(asked), among, float64(among)/float64(asked))
	if asked < 60 || first*100 < asked*90 || among*100 < asked*98 {
		t.Error("that is too few")
	}
}

// TestFollows: an index that followed many changes finds what a new one finds.
func TestFollows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir)
	c := open(t, dir)
	random := rand.New(rand.NewPCG(1, 2))
	all := names(c.Snapshot().Skills())
	var followed search.Index
	for range 15 {
		for range 1 + random.IntN(20) {
			name := all[random.IntN(len(all))]
			if random.IntN(3) == 0 {
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
				continue
			}
			does := tasks[strings.SplitAfter(all[random.IntN(len(all))], "-")[1]]
			testfiles.Write(t, filepath.Join(dir, name, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: %q\n---\n", name,
				fmt.Sprintf(does, fmt.Sprint("number ", random.IntN(1000)))))
		}
		snapshot, err := c.Rescan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{"charts of invoices", "number", "mistake", "file", all[random.IntN(len(all))]} {
			skip := random.IntN(3)
			var fresh search.Index
			want, wantTotal := fresh.Find(snapshot, query, skip, 50)
			got, gotTotal := followed.Find(snapshot, query, skip, 50)
			if !slices.Equal(want, got) || wantTotal != gotTotal {
				t.Fatalf("%q finds %q of %d, want %q of %d", query, names(got), gotTotal, names(want), wantTotal)
			}
		}
	}
}

// TestMatching: what counts as a match, and in which order.
func TestMatching(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := make(map[string]string)
	for name, description := range map[string]string{
		"alpha":       "Converts images.",
		"beta":        "Converts images.",
		"conversions": "Says nothing.",
		"gamma":       "处理表格文件，生成图表。",
		"delta":       "Größen und Maße umrechnen.",
		"how-to":      "The and of is.",
	} {
		files[name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: " + description + "\n---\n"
	}
	testfiles.Fill(t, dir, files)
	snapshot := open(t, dir).Snapshot()
	var index search.Index
	for query, want := range map[string][]string{
		"converting an image": {"alpha", "beta"},
		"imag":                {"alpha", "beta"},
		"im":                  nil,
		"BETA":                {"beta"},
		" beta ":              {"beta"},
		"convers":             {"conversions"},
		"表格":                  {"gamma"},
		"图":                   {"gamma"},
		"größe":               {"delta"},
		"how-to":              {"how-to"},
		"is the of":           nil,
		"":                    nil,
		"?!":                  nil,
	} {
		found, total := index.Find(snapshot, query, 0, 10)
		if !slices.Equal(names(found), want) || total != len(want) {
			t.Errorf("%q finds %q of %d, want %q", query, names(found), total, want)
		}
	}
	all, total := index.Find(snapshot, "images", 0, 10)
	second, _ := index.Find(snapshot, "images", 1, 1)
	none, _ := index.Find(snapshot, "images", 2, 10)
	if total != 2 || !slices.Equal(second, all[1:]) || len(none) != 0 {
		t.Errorf("pages are %q, %q and %q of %d", names(all), names(second), names(none), total)
	}
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			files := make(map[string]string)
			for i := range n {
				name := fmt.Sprintf("skill-%05d", i)
				files[name+"/SKILL.md"] = fmt.Sprintf("---\nname: %s\ndescription: Does number %d of the reports. Use when the user asks for data, files or charts.\n---\n", name, i)
			}
			dir := b.TempDir()
			testfiles.Fill(b, dir, files)
			snapshot := open(b, dir).Snapshot()
			var index search.Index
			index.Find(snapshot, "a", 0, 1)
			b.ReportAllocs()
			for b.Loop() {
				if found, _ := index.Find(snapshot, "chart the data in the files of report 77", 0, 51); len(found) != 51 {
					b.Fatalf("%d found", len(found))
				}
			}
		})
	}
}
