package catalog

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// The tag resolution of the core schema (YAML 1.2.2, section 10.3.2). The
// parser's own follows YAML 1.1 in places, so it is not used.
var (
	coreNull    = regexp.MustCompile(`^(?:null|Null|NULL|~|)$`)
	coreTrue    = regexp.MustCompile(`^(?:true|True|TRUE)$`)
	coreFalse   = regexp.MustCompile(`^(?:false|False|FALSE)$`)
	coreDecimal = regexp.MustCompile(`^[-+]?[0-9]+$`)
	coreOctal   = regexp.MustCompile(`^0o[0-7]+$`)
	coreHex     = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	coreFloat   = regexp.MustCompile(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`)
	coreNoJSON  = regexp.MustCompile(`^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// scalar gives a scalar as JSON.
func (e *encoder) scalar(n, where *yaml.Node) []byte {
	if n.Style&yaml.TaggedStyle == 0 {
		if n.Style != 0 {
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

// plain resolves a plain scalar and gives its JSON and its tag.
func (e *encoder) plain(text string, where *yaml.Node) (encoded []byte, tag string) {
	if text != "" && !strings.ContainsRune("-+.~0123456789nNtTfF", rune(text[0])) {
		return quoteJSON(text), "!!str"
	}
	switch {
	case coreNull.MatchString(text):
		return []byte("null"), "!!null"
	case coreTrue.MatchString(text):
		return []byte("true"), "!!bool"
	case coreFalse.MatchString(text):
		return []byte("false"), "!!bool"
	case coreDecimal.MatchString(text):
		return decimalJSON(text), "!!int"
	case coreOctal.MatchString(text):
		return radixJSON(text[2:], 8), "!!int"
	case coreHex.MatchString(text):
		return radixJSON(text[2:], 16), "!!int"
	case coreFloat.MatchString(text):
		return e.float(text, where), "!!float"
	case coreNoJSON.MatchString(text):
		e.report.add("yaml-number", e.at(where), "%s has no equal in JSON and was read as null", text)
		return []byte("null"), "!!float"
	}
	return quoteJSON(text), "!!str"
}

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
	n, _ := new(big.Int).SetString(digits, base) // the caller matched the digits
	return n.Append(nil, 10)
}

// float writes a number as IEEE 754 double precision holds it, in the
// shortest form that reads back the same.
func (e *encoder) float(text string, where *yaml.Node) []byte {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil { // the grammar was matched, so it is out of range
		e.report.add("yaml-number", e.at(where), "%s is out of range and was read as null", clip(text))
		return []byte("null")
	}
	format := byte('f')
	if abs := max(number, -number); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(nil, number, format, -1, 64)
}
