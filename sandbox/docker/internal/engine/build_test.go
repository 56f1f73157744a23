package engine

import (
	"bytes"
	"strings"
	"testing"
)

// What an engine says while it builds is taken as far as it is what it should be.
func TestAnswersOfBuilds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ answer, id, shown, fails string }{
		"Docker's": {`{"stream":"Step 1\n"}` + "\n" + `{"aux":{"ID":"sha256:one"}}` + "\n" + `{"stream":"Successfully built one\n"}`, "sha256:one", "Step 1\nSuccessfully built one\n", ""},
		"Podman's": {`{"stream":"STEP 1\n"}` + "\n" + `{"stream":"Successfully built two\n"}`, "two", "STEP 1\nSuccessfully built two\n", ""},
		"of a download": {`{"status":"Downloading","progressDetail":{"current":1,"total":9},"id":"a"}` + "\n" + `{"status":"Done","progressDetail":{},"id":"a"}` + "\n" + `{"status":"Status: new","aux":{"Size":1}}` + "\n" + `{"aux":"text"}`,
			"", "a: Done\nStatus: new\n", ""},
		"that fails":       {`{"stream":"x"}` + "\n" + `{"errorDetail":{"message":"boom"},"error":"boom\n"}`, "", "x", "boom"},
		"that is none":     {"<html>", "", "", "the engine's answer is none"},
		"that is too long": {`{"stream":"` + strings.Repeat("x", maxMessageBytes) + `"}`, "", "", "token too long"},
		"that is cut":      {`{"stream":"x"}` + "\n" + `{"stre`, "", "x", "the engine's answer is none"},
		"that is empty":    {"", "", "", ""},
	} {
		var shown bytes.Buffer
		id, err := follow(strings.NewReader(test.answer), &shown)
		if id != test.id && test.fails == "" || shown.String() != test.shown || (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("an answer %s: %q, %q, %v", name, id, shown.String(), err)
		}
	}
}
