package frontmatter

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// scalar returns a scalar as JSON.
func (e *encoder) scalar(n, where *yaml.Node) []byte {
	if n.Style&yaml.TaggedStyle == 0 {
		if n.Tag == "!" {
			e.subset(where, "a tag")
		}
		if n.Style != 0 || n.Tag == "!" {
			return quoteJSON(n.Value)
		}
		encoded, _ := e.plain(n.Value, where)
		return encoded
	}
	e.subset(where, "a tag")
	switch n.Tag {
	case "!!str":
		return quoteJSON(n.Value)
	case "!!null", "!!bool", "!!int", "!!float":
		if encoded, tag := e.plain(n.Value, where); tag == n.Tag || tag == "!!int" && n.Tag == "!!float" {
			return encoded
		}
	}
	e.foreignTag(n, where, "")
	return quoteJSON(n.Value)
}

// plain resolves a plain scalar by the core schema (YAML 1.2.2, section
// 10.3.2) and returns its JSON and its tag. The parser's own resolution
// follows YAML 1.1 in places.
func (e *encoder) plain(text string, where *yaml.Node) (encoded []byte, tag string) {
	switch text {
	case "null", "Null", "NULL", "~", "":
		return []byte("null"), "!!null"
	case "true", "True", "TRUE":
		return []byte("true"), "!!bool"
	case "false", "False", "FALSE":
		return []byte("false"), "!!bool"
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN":
		e.report.Add("yaml-number", e.at(where), "%s has no equal in JSON and was read as null", text)
		return []byte("null"), "!!float"
	}
	const digits = "0123456789"
	switch unsigned := strings.TrimLeft(text[:1], "+-") + text[1:]; {
	case consists(unsigned, digits):
		return decimalJSON(text), "!!int"
	case strings.HasPrefix(text, "0o") && consists(text[2:], digits[:8]):
		return radixJSON(text[2:], 8), "!!int"
	case strings.HasPrefix(text, "0x") && consists(text[2:], digits+"abcdefABCDEF"):
		return radixJSON(text[2:], 16), "!!int"
	case consists(text, digits+"+-.eE"):
		if encoded := e.float(text, where); encoded != nil {
			return encoded, "!!float"
		}
	}
	return quoteJSON(text), "!!str"
}

// consists reports whether a text is not empty and has none but these
// characters.
func consists(text, of string) bool { return text != "" && strings.Trim(text, of) == "" }

// decimalJSON writes a decimal whole number with all its digits: without the
// plus and the leading zeros, which JSON forbids.
func decimalJSON(text string) []byte {
	digits := strings.TrimLeft(text, "+-0")
	if digits == "" {
		return []byte("0")
	}
	if text[0] == '-' {
		digits = "-" + digits
	}
	return []byte(digits)
}

func radixJSON(digits string, base int) []byte {
	n, _ := new(big.Int).SetString(digits, base) // the caller looked at the digits
	return n.Append(nil, 10)
}

// float writes a number as IEEE 754 double precision holds it, in the
// shortest form that reads back the same, or returns nil where the text is no
// number.
func (e *encoder) float(text string, where *yaml.Node) []byte {
	number, err := strconv.ParseFloat(text, 64)
	if errors.Is(err, strconv.ErrRange) {
		e.report.Add("yaml-number", e.at(where), "%s is out of range and was read as null", problem.Clip(text))
		return []byte("null")
	}
	if err != nil {
		return nil
	}
	format := byte('f')
	if abs := max(number, -number); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(nil, number, format, -1, 64)
}
