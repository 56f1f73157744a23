package secrets

// Code says what is the matter with a secret.
type Code string

// The codes.
const (
	// NotFound: there is no such variable, file, program or entry.
	NotFound Code = "secret_not_found"
	// SourceFailed: the source is there, and cannot be read.
	SourceFailed Code = "secret_source_failed"
	// SourceTimeout: it was not read in time.
	SourceTimeout Code = "secret_source_timeout"
	// Unusable: what was read cannot be a secret's value.
	Unusable Code = "secret_unusable"
)

// Error is why a value could not be had. Its text names the secret and what kind
// of source it has; it has no value, no path and no output of a program, and is
// fit for clients.
type Error struct {
	Code Code
	// Name is that of the secret, and Kind that of its source: [Source.Kind].
	Name, Kind string
	// Reason says what happened, as in "the variable is not set".
	Reason string
	// Hint says what the user can do about it: a sentence.
	Hint string
}

// Error implements error.
func (e *Error) Error() string {
	return "the secret " + e.Name + " cannot be read from its source (" + e.Kind + "): " + e.Reason
}

// fault is an [Error] before it is known whose.
type fault struct {
	code         Code
	reason, hint string
}

func (f *fault) Error() string { return f.reason }
