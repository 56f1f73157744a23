package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
)

// maxTextChars bounds texts, in characters.
const maxTextChars = 4096

// choice is one of some words, the one that grants most first where a project
// may choose a later one.
func choice(to *string, words ...string) value {
	return scalar[string]{
		to: to, tags: []string{tagText},
		parse:  func(text string) (string, error) { return text, oneOf(words)(text) },
		format: scalarYAML,
		means:  "`" + strings.Join(words, "`, `") + "`",
		json:   object{"enum": words},
		wider:  func(value, than string) bool { return slices.Index(words, value) < slices.Index(words, than) },
	}
}

// oneOf checks that a text is one of some words.
func oneOf(words []string) func(text string) error {
	return func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("%s is none of %s%s", quoted(text), strings.Join(words, ", "), nearest(text, words))
		}
		return nil
	}
}

// offOr is one of some words of which a project may choose off alone.
func offOr(to *string, words ...string) value {
	value := choice(to, words...).(scalar[string])
	value.wider = func(value, than string) bool { return value != Off && value != than }
	return value
}

// boolean is true or false. A project may choose true alone.
func boolean(to *bool) value {
	return scalar[bool]{
		to: to, tags: []string{tagBoolean},
		parse: func(text string) (bool, error) {
			if text != "true" && text != "false" {
				return false, fmt.Errorf("%s is neither true nor false", quoted(text))
			}
			return text == "true", nil
		},
		format: strconv.FormatBool,
		means:  "`true` or `false`",
		json:   object{"type": "boolean"},
		wider:  func(value, than bool) bool { return than && !value },
	}
}

// integer is a whole number.
func integer(to *int, least, most int) value {
	return scalar[int]{
		to: to, tags: []string{tagInteger},
		parse: func(text string) (int, error) {
			n, err := strconv.Atoi(text)
			switch {
			case err == nil && n < 0:
				return 0, fmt.Errorf("%d is negative", n)
			case err != nil || strconv.Itoa(n) != text:
				return 0, fmt.Errorf("%s is no whole number from %d to %d", quoted(text), least, most)
			case n < least || n > most:
				return 0, fmt.Errorf("%d is not from %d to %d", n, least, most)
			}
			return n, nil
		},
		format: strconv.Itoa,
		means:  fmt.Sprintf("%d to %d", least, most),
		json:   object{"type": "integer", "minimum": least, "maximum": most},
		wider:  func(value, than int) bool { return value > than },
	}
}

// thousandths is a number such as 1.5, read as so many thousandths.
func thousandths(to *int, least, most int) value {
	return scalar[int]{
		to: to, tags: []string{tagInteger, tagFloat},
		parse: func(text string) (int, error) {
			whole, part, _ := strings.Cut(text, ".")
			n, err := strconv.Atoi(whole + (part + "000")[:3])
			switch {
			case err != nil || !thousandthsPattern().MatchString(text):
				return 0, fmt.Errorf("%s is no number such as 2 or 0.5, with at most three places", quoted(text))
			case n < least || n > most:
				return 0, fmt.Errorf("%s is not from %s to %s", text, formatThousandths(least), formatThousandths(most))
			}
			return n, nil
		},
		format: formatThousandths,
		means:  fmt.Sprintf("%s to %s", formatThousandths(least), formatThousandths(most)),
		json:   object{"type": "number", "minimum": float64(least) / 1000, "maximum": float64(most) / 1000, "multipleOf": 0.001},
		wider:  func(value, than int) bool { return value > than },
	}
}

var thousandthsPattern = lazyregexp.New(`^(0|[1-9][0-9]{0,6})(\.[0-9]{1,3})?$`)

func formatThousandths(n int) string { return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) }

// durationForm is what durations look like.
const durationForm = `^([0-9]{1,9}(\.[0-9]{1,9})?(ms|s|m|h))+$`

var durationPattern = lazyregexp.New(durationForm)

// duration is a time such as 1h30m.
func duration(to *time.Duration, least, most time.Duration) value {
	return scalar[time.Duration]{
		to: to, tags: []string{tagText},
		parse: func(text string) (time.Duration, error) {
			d, err := time.ParseDuration(text)
			switch {
			case err != nil || !durationPattern().MatchString(text):
				return 0, fmt.Errorf("%s is no duration such as 90s, 10m or 1h30m", quoted(text))
			case d < least || d > most:
				return 0, fmt.Errorf("%s is not from %s to %s", text, formatDuration(least), formatDuration(most))
			}
			return d, nil
		},
		format: formatDuration,
		means:  fmt.Sprintf("a duration, `%s` to `%s`", formatDuration(least), formatDuration(most)),
		json:   object{"type": "string", "pattern": durationForm},
		wider:  func(value, than time.Duration) bool { return value > than },
	}
}

// formatDuration leaves out units that are zero: 1h, not 1h0m0s.
func formatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// sizeUnits are the units of sizes, the larger ones first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

const sizeForm = `^[0-9]{1,15}(B|KiB|MiB|GiB|TiB)$`

var sizePattern = lazyregexp.New(sizeForm)

// size is a number of bytes such as 64MiB.
func size(to *int64, least, most int64) value {
	return scalar[int64]{
		to: to, tags: []string{tagText},
		parse: func(text string) (int64, error) {
			n, ok := parseSize(text)
			switch {
			case !ok:
				return 0, fmt.Errorf("%s is no size such as 512KiB, 64MiB or 2GiB (units: B, KiB, MiB, GiB, TiB)", quoted(text))
			case n < least || n > most:
				return 0, fmt.Errorf("%s is not from %s to %s", text, formatSize(least), formatSize(most))
			}
			return n, nil
		},
		format: formatSize,
		means:  fmt.Sprintf("a size, `%s` to `%s`", formatSize(least), formatSize(most)),
		json:   object{"type": "string", "pattern": sizeForm},
		wider:  func(value, than int64) bool { return value > than },
	}
}

func parseSize(text string) (int64, bool) {
	if !sizePattern().MatchString(text) {
		return 0, false
	}
	for _, unit := range sizeUnits {
		if digits, found := strings.CutSuffix(text, unit.name); found {
			n, err := strconv.ParseInt(digits, 10, 64)
			return n * unit.bytes, err == nil && n <= (1<<62)/unit.bytes
		}
	}
	return 0, false
}

func formatSize(n int64) string {
	for _, unit := range sizeUnits {
		if n%unit.bytes == 0 && n > 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// text is any text that a check allows.
func text(to *string, means string, check func(string) error) value {
	return scalar[string]{
		to: to, tags: []string{tagText},
		parse:  func(text string) (string, error) { return text, checkText(text, check) },
		format: scalarYAML,
		means:  means,
		json:   textSchema(),
		wider:  func(value, than string) bool { return value != than },
	}
}

func textSchema() object { return object{"type": "string", "maxLength": maxTextChars} }

// checkText holds a text to what all have to be, and to a check of its own.
func checkText(text string, check func(string) error) error {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return errors.New("is no text: it holds a NUL or bytes that are no UTF-8")
	case utf8.RuneCountInString(text) > maxTextChars:
		return fmt.Errorf("is longer than %d characters", maxTextChars)
	}
	return check(text)
}

func anyText(string) error { return nil }

func notEmpty(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("is empty")
	}
	return nil
}

// ownPath checks a path that is not to depend on the directory in which the
// program was started.
func ownPath(text string) error {
	if filepath.IsAbs(text) || strings.HasPrefix(text, "~/") {
		return nil
	}
	return fmt.Errorf("%s is neither absolute nor below the home directory (~/)", quoted(text))
}

// ownPathOr checks a path like [ownPath], or one of some words.
func ownPathOr(words ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(words, text) {
			return nil
		}
		if text == "" {
			return fmt.Errorf("is empty; allowed is %s or a path", strings.Join(words, ", "))
		}
		if ownPath(text) != nil {
			return fmt.Errorf("%s is neither %s nor a path that is absolute or below the home directory (~/)", quoted(text), strings.Join(words, ", "))
		}
		return nil
	}
}

// namePattern checks the name of a skill in which asterisks may stand.
func namePattern(text string) error {
	const longest = 64
	switch {
	case text == "":
		return errors.New("is empty")
	case utf8.RuneCountInString(text) > longest:
		return fmt.Errorf("is longer than %d characters", longest)
	case strings.ContainsAny(text, " \t\r\n[]?\\/"):
		return fmt.Errorf("%s is no name of a skill, in which * may stand for any characters", quoted(text))
	}
	return nil
}

// glob checks a pattern of files, of which the rules of package policy/paths
// know what it means.
func glob(text string) error {
	pattern := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(text, "/"), "."), "/")
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("is empty")
	case strings.HasPrefix(text, "!") || strings.HasPrefix(text, "~"):
		return fmt.Errorf("%s is no pattern: there is no ! and no ~, write a path in the project", quoted(text))
	case !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("%s is no pattern: a bracket, a brace or a backslash is left open", quoted(text))
	}
	for segment := range strings.SplitSeq(pattern, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return fmt.Errorf("%s is no pattern: it has an empty, . or .. segment", quoted(text))
		}
	}
	return nil
}
