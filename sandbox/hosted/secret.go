package hosted

import (
	"bytes"
	"io"
	"slices"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// checkSecrets refuses a run of which somebody else would learn a secret: what no
// output may hold is no part of what is sent.
func checkSecrets(spec sandbox.Spec, o *order) error {
	if spec.Redact == nil {
		return nil
	}
	sent := slices.Concat(o.Env, [][]byte{o.Stdin})
	for _, candidate := range o.Candidates {
		sent = append(sent, candidate.Argv...)
	}
	for _, text := range sent {
		if holdsSecret(spec.Redact, text) {
			return &sandbox.SetupError{
				Rule:    "secret-refused",
				Message: "the run would be given a secret of the user, which is not sent to somebody else's container; nothing was run",
				Hint:    "Tell the user that secrets need a sandbox on their own machine, such as --sandbox=local or docker.",
			}
		}
	}
	return nil
}

func holdsSecret(redact func(io.Writer) io.WriteCloser, text []byte) bool {
	var left bytes.Buffer
	writer := redact(&left)
	_, err := writer.Write(text)
	return err != nil || writer.Close() != nil || !bytes.Equal(left.Bytes(), text)
}
