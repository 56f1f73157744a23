package integration

import (
	"encoding/json"
	"strings"
)

// toolResult is the part of a tools/call result that the tests look at.
type toolResult struct {
	Content           []content       `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
}

type content struct {
	Type     string `json:"type"` // text, image, resource_link, …
	Text     string `json:"text"`
	Data     string `json:"data"` // base64
	MIMEType string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
}

// text joins the result's text blocks.
func (r toolResult) text() string {
	var blocks []string
	for _, c := range r.Content {
		if c.Type == "text" {
			blocks = append(blocks, c.Text)
		}
	}
	return strings.Join(blocks, "\n")
}

// ofType returns the result's blocks of one type.
func (r toolResult) ofType(kind string) []content {
	var blocks []content
	for _, c := range r.Content {
		if c.Type == kind {
			blocks = append(blocks, c)
		}
	}
	return blocks
}

// readResult is a resources/read result.
type readResult struct {
	Contents []resourceContents `json:"contents"`
}

type resourceContents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
	Blob     string `json:"blob"` // base64
}

// named is an item of a list, as far as the tests look at one.
type named struct {
	Name        string          `json:"name"`
	URI         string          `json:"uri"`
	URITemplate string          `json:"uriTemplate"`
	MIMEType    string          `json:"mimeType"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations map[string]any  `json:"annotations"`
}

// names returns the names of a list's items.
func names(items []named) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = item.Name
	}
	return all
}
