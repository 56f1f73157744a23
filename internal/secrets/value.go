package secrets

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/internal/redact"
)

// MaxBytes is the length of the longest value.
const MaxBytes = 64 << 10

// check returns why a value cannot be a secret's, or nil.
func check(value string) error {
	unusable := func(reason, hint string) error { return &fault{Unusable, reason, hint} }
	switch {
	case value == "":
		return unusable("it is empty", "Set the secret at its source.")
	case len(value) > MaxBytes:
		return errTooLong
	case strings.ContainsAny(value, "\r\n"):
		return unusable("it has more than one line", "Have the source hold nothing but the value; of a multi-line key, its base64 on one line.")
	case strings.ContainsFunc(value, isControl):
		return unusable("it holds control characters", "Have the source hold nothing but the value, as text.")
	case !utf8.ValidString(value):
		return unusable("it is no text in UTF-8", "Have the source hold the base64 of the value.")
	case strings.TrimSpace(value) != value:
		return unusable("it begins or ends with a space", "Take the space out at its source.")
	case len(value) < redact.MinBytes:
		return unusable(fmt.Sprintf("it is shorter than %d bytes, so that it could not be told from other text to be kept out of output", redact.MinBytes),
			"Use a longer secret.")
	case isCommon(value):
		return unusable("it is a common word, which is in texts that have nothing to do with it", "Use a secret that nobody can guess.")
	}
	return nil
}

// commonWords are placeholders of examples, names of things that every result
// holds, and what people take for passwords.
const commonWords = " changeme password password1 password123 passw0rd undefined localhost production development anonymous administrator " +
	"placeholder your-api-key your_api_key yourapikey your-token-here your_token_here your-secret-key your_secret_key redacted [redacted] " +
	"12345678 123456789 1234567890 00000000 11111111 qwertyuiop iloveyou sunshine princess football trustno1 welcome1 baseball superman " +
	"jsonrpc structuredContent inputSchema outputSchema mimeType resource_link resourceTemplates notifications initialize initialized " +
	"capabilities protocolVersion serverInfo clientInfo instructions subscriptions annotations description inputResponses requestState " +
	"readOnlyHint destructiveHint idempotentHint openWorldHint experimental completion completions " +
	"activate readResource findSkills applyChanges workspace workspaces artifacts arguments timeoutMs exitCode durationMs " +
	"truncated omitted directory resources resources/read tools/call execution_failed execution_timeout file_not_found skill_not_found " +
	"permission_denied invalid_arguments output_limit sandbox_unavailable workspace_expired conflicts compatibility allowed-tools "

// isCommon reports whether a value is a common word, or part of one, or a
// character that is repeated.
func isCommon(value string) bool {
	return strings.Contains(strings.ToLower(commonWords), strings.ToLower(value)) || strings.Count(value, value[:1]) == len(value)
}
