package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Key is equal for a request and its response or cancellation, in which the
// id may be written differently. A whole number is taken by its digits: as a
// float it would be equal to its neighbours from 2^53 on.
func Key(id json.RawMessage) string {
	var value any
	if json.Unmarshal(id, &value) != nil {
		return string(id)
	}
	number, isNumber := value.(float64)
	switch {
	case !isNumber:
		return fmt.Sprintf("%T %v", value, value)
	case bytes.ContainsAny(id, ".eE"):
		return "number " + strconv.FormatFloat(number, 'f', -1, 64)
	default:
		return "number " + string(id)
	}
}
