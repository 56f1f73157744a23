package integration

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// manifest is a skill as the Skills extension (SEP-2640) lists it.
type manifest struct {
	URI         string         `json:"uri"`
	Frontmatter map[string]any `json:"frontmatter"`
	Resources   []struct {
		URI    string `json:"uri"`
		Digest string `json:"digest"`
		Size   int64  `json:"size"` // bytes
	} `json:"resources"`
}

// name returns the skill's name from its URI's last directory.
func (m manifest) name() string {
	return filepath.Base(strings.TrimSuffix(m.URI, "/SKILL.md"))
}

// The SDK's own Skills client lists every sample, reads every file of it, and
// finds that size, digest and frontmatter are what the server said.
func TestSkillsExtension(t *testing.T) {
	able := slices.DeleteFunc(typeScript(), func(c client) bool { return c.except("skills") != nil })
	forEach(t, able, func(t *testing.T, c client) {
		p := connect(t, c, sampleRoot(t))
		if !p.connected.Skills || !p.connected.DirectoryRead {
			t.Fatalf("the server declares skills=%v, directoryRead=%v", p.connected.Skills, p.connected.DirectoryRead)
		}
		var listing struct {
			Skills  []manifest `json:"skills"`
			Invalid []any      `json:"invalid"`
		}
		p.call(t, &listing, "skills.list")
		if len(listing.Invalid) > 0 {
			t.Errorf("the SDK refuses %v", listing.Invalid)
		}
		for _, skill := range listing.Skills {
			checkManifest(t, p, skill)
		}
		i := slices.IndexFunc(listing.Skills, func(m manifest) bool { return m.URI == triageURI })
		if i < 0 {
			t.Fatalf("%s is not listed", triageURI)
		}
		checkComplete(t, listing.Skills[i])
		checkDirectory(t, p)
	})
}

// checkManifest lets the SDK verify every file of a skill.
func checkManifest(t *testing.T, p *peer, skill manifest) {
	t.Helper()
	if skill.Frontmatter["name"] != skill.name() {
		t.Errorf("%s has the name %v", skill.URI, skill.Frontmatter["name"])
	}
	for _, file := range skill.Resources {
		var read struct {
			Verified bool   `json:"verified"`
			Body     string `json:"body"`
		}
		if err := p.try(t, &read, "skills.read", skill, file.URI); err != nil || !read.Verified {
			t.Errorf("%s: verified=%v, %v", file.URI, read.Verified, err)
		}
		if file.URI == skill.URI && read.Body == "" {
			t.Errorf("%s has no body", file.URI)
		}
	}
	var got struct {
		Skill manifest `json:"skill"`
	}
	if err := p.try(t, &got, "skills.get", skill.URI); err != nil || got.Skill.URI != skill.URI {
		t.Errorf("skills/get %s = %s, %v", skill.URI, got.Skill.URI, err)
	}
}

// checkComplete compares the files listed with those on disk.
func checkComplete(t *testing.T, skill manifest) {
	t.Helper()
	var onDisk, listed []string
	dir := filepath.Join(samples, skill.name())
	filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			relative, _ := filepath.Rel(dir, path)
			onDisk = append(onDisk, filepath.ToSlash(relative))
		}
		return err
	})
	for _, file := range skill.Resources {
		listed = append(listed, strings.TrimPrefix(file.URI, "skill://"+skill.name()+"/"))
	}
	slices.Sort(onDisk)
	slices.Sort(listed)
	if !slices.Equal(onDisk, listed) {
		t.Errorf("%s lists %q, on disk are %q", skill.URI, listed, onDisk)
	}
}

func checkDirectory(t *testing.T, p *peer) {
	t.Helper()
	var directory struct {
		Resources []named `json:"resources"`
	}
	p.call(t, &directory, "skills.readDirectory", "skill://"+triage)
	var uris []string
	for _, child := range directory.Resources {
		uris = append(uris, child.URI)
		if child.URI == "skill://"+triage+"/scripts" && child.MIMEType != "inode/directory" {
			t.Errorf("%s is %s, want inode/directory", child.URI, child.MIMEType)
		}
	}
	for _, want := range []string{triageURI, "skill://" + triage + "/scripts", "skill://" + triage + "/references"} {
		if !slices.Contains(uris, want) {
			t.Errorf("the directory lists %q, without %s", uris, want)
		}
	}
}
