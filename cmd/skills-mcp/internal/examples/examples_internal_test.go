package examples

import (
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte("examples:\n  - name: one\n    exec: {command: ls}\n    expect: {stdout: {regexp: [a, 'b+']}}\n"))
	f.Add([]byte("examples:\n  - name: one\n    exec: {tool: a, input: {b: 1}}\n    files: {a/b: text}\n    expect: {files: {c: {exact: ''}}, created: []}\n"))
	f.Add([]byte("examples: [{name: a, exec: {}, expect: {stdout: {regexp: '('}}}]\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		all, faults := parse("file", source)
		if (len(all) == 0) == (len(faults) == 0) {
			t.Fatalf("%d examples, faults %v", len(all), faults)
		}
		for _, each := range all {
			if each.Name == "" || each.programs() != 1 {
				t.Errorf("%+v", each)
			}
		}
		for _, fault := range faults {
			if fault.File != "file" || fault.Message == "" || strings.ContainsAny(fault.String(), "\n\x1b") {
				t.Errorf("%+v", fault)
			}
		}
	})
}
