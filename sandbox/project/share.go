package project

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Write is the access of the operator's that backends do not know:
// [sandbox.AccessReview], and what is held is applied at the end of each run.
const Write sandbox.Access = "write"

// Share is a directory or file of the user that programs may see.
type Share struct {
	// Path is absolute, clean and without symbolic links.
	Path string
	// Access is [sandbox.AccessRead], [sandbox.AccessReview] or [Write]; empty
	// where nothing was said.
	Access sandbox.Access
	// File reports that it is a regular file.
	File bool
}

// Share reads PATH[:read|review|write], the value of --share. The error is a
// [*Refusal].
func (p Places) Share(text string) (Share, error) {
	path, access, refusal := p.splitAccess(text)
	if refusal != nil {
		return Share{}, refusal
	}
	real, info, refusal := p.resolve(path)
	switch {
	case refusal != nil:
		return Share{}, refusal
	case !info.IsDir() && !info.Mode().IsRegular():
		return Share{}, refuse(RuleNoDirectory, path, "is neither a directory nor a regular file")
	}
	if refusal := p.refused(real, info.IsDir()); refusal != nil {
		return Share{}, refusal
	}
	if info.IsDir() {
		refusal = usable(real)
	} else if file, err := os.Open(real); err != nil {
		refusal = refuse(RuleUnreadable, path, "cannot be read by this user")
	} else {
		file.Close()
	}
	if refusal != nil {
		return Share{}, refusal
	}
	if access != sandbox.AccessRead {
		if refusal := p.protected(real); refusal != nil {
			return Share{}, refusal
		}
	}
	return Share{Path: real, Access: access, File: !info.IsDir()}, nil
}

// splitAccess takes the access off a path. A path that ends like that is named
// with an access behind it.
func (p Places) splitAccess(text string) (path string, access sandbox.Access, refusal *Refusal) {
	colon := strings.LastIndexByte(text, ':')
	if colon < 0 || strings.ContainsAny(text[colon:], `/\`) {
		return text, "", nil
	}
	path, access = text[:colon], sandbox.Access(text[colon+1:])
	switch {
	case path == "":
		return "", "", refuse(RuleMissing, text, "has no path")
	case access == sandbox.AccessRead || access == sandbox.AccessReview || access == Write:
		return path, access, nil
	}
	if full, refusal := p.expand(text); refusal == nil {
		if _, err := os.Lstat(full); err == nil {
			return text, "", nil
		}
	}
	return "", "", refuse(RuleAccess, text, "ends in an access that there is not; write PATH:read, PATH:review or PATH:write")
}

// Apart returns a [*Refusal] for the first share that is, holds or lies in
// another, or the project, whose path may be empty.
func Apart(project string, shares []Share) error {
	for i, share := range shares {
		if project != "" && overlap(project, share.Path) {
			return refuse(RuleOverlap, share.Path, "overlaps with the project "+project+"; programs see that already, or --project should name less")
		}
		for _, other := range shares[:i] {
			if overlap(other.Path, share.Path) {
				return refuse(RuleOverlap, share.Path, "overlaps with the share "+other.Path+"; name one of them")
			}
		}
	}
	return nil
}

func overlap(one, other string) bool {
	return pathname.Within(filepath.Clean(one), filepath.Clean(other)) || pathname.Within(other, one)
}
