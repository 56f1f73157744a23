package frontmatter

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func explore(t *testing.T, docs []document) {
	start := time.Now()
	rs := readAll(t, docs)
	out, _ := os.Create("/tmp/explore.txt")
	defer out.Close()
	n, bad := 0, 0
	for _, r := range rs {
		n++
		d := func(other outcome, l likeness) string {
			if (r.ours.refusal != "") != (other.refusal != "") {
				return "ours: [" + r.ours.refusal + "] theirs: [" + fmt.Sprintf("%.120q", other.refusal) + "]"
			}
			if r.ours.refusal != "" {
				return ""
			}
			return l.compare("", r.ours.value, other.value)
		}
		js, core := d(r.javascript, inJavaScript), d(r.core, inPython)
		ru, py := "", ""
		if len(r.ruamel.unlike) == 0 {
			ru = d(r.ruamel, inPython)
		}
		if len(r.pyyaml.unlike) == 0 {
			py = d(r.pyyaml, inPython)
		}
		if r.ours.refusedBy("yaml-key-type") && r.javascript.oddKeys > 0 {
			continue
		}
		if js != "" || core != "" || os.Getenv("ALL") != "" && (ru != "" || py != "") {
			bad++
			cls := "3"
			if js != "" && core != "" {
				cls = "BOTH"
			} else if js != "" {
				cls = "JS"
			} else if core != "" {
				cls = "CORE"
			}
			fmt.Fprintf(out, "#### %s %s  rules %v\n%s     js: %s\n     core: %s\n     ruamel: %s\n     pyyaml: %s\n", cls, r.origin, r.ours.rules, strings.TrimPrefix(regexp.MustCompile(`document-\d+`).ReplaceAllString(r.yaml, "@@"), header), js, core, ru, py)
		}
	}
	t.Logf("%d docs, %d differ, %v", n, bad, time.Since(start))
}

func TestExploreScalars(t *testing.T) { explore(t, scalarDocuments()) }
func TestExploreSamples(t *testing.T) { explore(t, sampleDocuments(t)) }

func TestExploreBlocks(t *testing.T) { explore(t, blockDocuments()) }
func TestExploreForms(t *testing.T)  { explore(t, formDocuments()) }
