package validating

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

// What is written of SARIF 2.1.0, the OASIS standard of results of analyses.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID   string    `json:"id"`
		Help sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
)

// sarif is for what shows results of analyses: code scanning, editors.
func (r *Report) sarif(out io.Writer) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	driver := &run.Tool.Driver
	*driver = sarifDriver{Name: "skills-mcp", InformationURI: "https://github.com/skills-mcp/skills-mcp", Rules: []sarifRule{}}
	for _, p := range r.Problems {
		rule := slices.IndexFunc(driver.Rules, func(known sarifRule) bool { return known.ID == p.Rule })
		if rule < 0 {
			rule = len(driver.Rules)
			driver.Rules = append(driver.Rules, sarifRule{p.Rule, sarifText{p.Hint}})
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: p.Rule, RuleIndex: rule, Level: p.Severity.String(), Message: sarifText{terminal.Printable(p.Message)}, Locations: []sarifLocation{locationOf(p)},
		})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func locationOf(p catalog.Problem) (at sarifLocation) {
	file := url.URL{Path: filepath.ToSlash(p.File)}
	if filepath.IsAbs(p.File) {
		file.Scheme = "file"
	}
	at.Physical.Artifact.URI = file.String()
	if p.Line > 0 {
		at.Physical.Region = &sarifRegion{p.Line, p.Column}
	}
	return at
}
