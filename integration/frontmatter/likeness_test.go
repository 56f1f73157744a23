package frontmatter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// likeness says how two values are compared: what a reader makes of a number
// that we wrote, and which keys it keeps in their order.
type likeness struct {
	sameNumber func(ours, theirs json.Number) bool
	ordered    func(key string) bool
}

// inJavaScript compares as a host does that reads our JSON with JSON.parse:
// every number is a double, and keys that are array indexes come first.
var inJavaScript = likeness{
	sameNumber: sameDouble,
	ordered: func(key string) bool {
		n, err := strconv.ParseUint(key, 10, 32)
		return err != nil || strconv.FormatUint(n, 10) != key || n == 1<<32-1
	},
}

// inPython compares as json.loads does: whole numbers have all their digits,
// and every key keeps its place.
var inPython = likeness{
	sameNumber: func(ours, theirs json.Number) bool {
		if strings.ContainsAny(theirs.String(), ".e") {
			return sameDouble(ours, theirs)
		}
		return ours.String() == theirs.String()
	},
	ordered: func(string) bool { return true },
}

func sameDouble(ours, theirs json.Number) bool {
	a, errA := ours.Float64()
	b, errB := theirs.Float64()
	return errA == nil && errB == nil && a == b
}

// compare returns the first place where two values differ and what stands
// there, or nothing.
func (l likeness) compare(path string, ours, theirs any) string {
	switch a := ours.(type) {
	case object:
		if b, same := theirs.(object); same {
			return l.compareObjects(path, a, b)
		}
	case []any:
		if b, same := theirs.([]any); same {
			return l.compareLists(path, a, b)
		}
	case json.Number:
		if b, same := theirs.(json.Number); same && l.sameNumber(a, b) {
			return ""
		}
	default:
		if scalar(theirs) && ours == theirs {
			return ""
		}
	}
	return fmt.Sprintf("%s: ours is %s, theirs %s", path, show(ours), show(theirs))
}

func scalar(v any) bool {
	switch v.(type) {
	case object, []any:
		return false
	}
	return true
}

func (l likeness) compareLists(path string, ours, theirs []any) string {
	for i := range min(len(ours), len(theirs)) {
		if found := l.compare(fmt.Sprintf("%s[%d]", path, i), ours[i], theirs[i]); found != "" {
			return found
		}
	}
	if len(ours) != len(theirs) {
		return fmt.Sprintf("%s: ours has %d items, theirs %d", path, len(ours), len(theirs))
	}
	return ""
}

func (l likeness) compareObjects(path string, ours, theirs object) string {
	for _, m := range ours {
		other, found := theirs.get(m.key)
		if !found {
			return fmt.Sprintf("%s: only ours has the key %q", path, m.key)
		}
		if found := l.compare(path+"."+m.key, m.value, other); found != "" {
			return found
		}
	}
	for _, m := range theirs {
		if _, found := ours.get(m.key); !found {
			return fmt.Sprintf("%s: only theirs has the key %q", path, m.key)
		}
	}
	if a, b := l.order(ours), l.order(theirs); !slices.Equal(a, b) {
		return fmt.Sprintf("%s: the order of our keys is %q, of theirs %q", path, a, b)
	}
	return ""
}

// order returns the keys that keep their place.
func (l likeness) order(o object) []string {
	var keys []string
	for _, m := range o {
		if l.ordered(m.key) {
			keys = append(keys, m.key)
		}
	}
	return keys
}

// show writes a value for a message.
func show(v any) string {
	switch v := v.(type) {
	case object:
		return fmt.Sprintf("a map of %d", len(v))
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case string:
		return fmt.Sprintf("%+q", v)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}
