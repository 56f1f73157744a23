package anthropic

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"
)

// MaxUploadBytes is how large an upload of a skill may be, all files together.
const MaxUploadBytes = 30_000_000

// Skill is a skill that the API keeps, with all its versions.
type Skill struct {
	// ID begins with "skill_" where the skill is one of the user's.
	ID string `json:"id"`
	// DisplayName is a label, and not unique: the name in the first SKILL.md.
	DisplayName string `json:"display_name"`
	// LatestVersionID is the newest version.
	LatestVersionID string `json:"latest_version_id"`
	Source          struct {
		// Type is "custom" for skills of the user's workspace.
		Type string `json:"type"`
	} `json:"source"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// SkillVersion is one version of a skill, which never changes.
type SkillVersion struct {
	// ID begins with "skver_".
	ID string `json:"id"`
	// SkillID is the skill that it is a version of.
	SkillID string `json:"skill_id"`
	// Name is that of the skill, the same in all its versions, and the name of
	// its directory in containers.
	Name string `json:"name"`
	// Description is that in its SKILL.md.
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"created_at"`
}

// SkillFile is one file of a skill that is uploaded.
type SkillFile struct {
	// Path is slash-separated, below a directory that all files of the skill
	// have in common, in which SKILL.md is.
	Path string
	Data []byte
}

// CreateSkill makes a skill and its first version.
func (c *Client) CreateSkill(ctx context.Context, files []SkillFile) (Skill, error) {
	request, err := upload(skillParts(files), "skills")
	if err != nil {
		return Skill{}, err
	}
	var skill Skill
	return skill, c.do(ctx, request, &skill)
}

// CreateVersion makes a new version of a skill, out of all its files.
func (c *Client) CreateVersion(ctx context.Context, skill string, files []SkillFile) (SkillVersion, error) {
	request, err := upload(skillParts(files), "skills", skill, "versions")
	if err != nil {
		return SkillVersion{}, err
	}
	var version SkillVersion
	return version, c.do(ctx, request, &version)
}

// Skill returns a skill.
func (c *Client) Skill(ctx context.Context, id string) (skill Skill, err error) {
	return skill, c.do(ctx, get(nil, "skills", id), &skill)
}

// Version returns a version of a skill.
func (c *Client) Version(ctx context.Context, skill, id string) (version SkillVersion, err error) {
	return version, c.do(ctx, get(nil, "skills", skill, "versions", id), &version)
}

// Skills yields the skills of a source, "custom" or "anthropic", or all where it
// is empty. An error is the last.
func (c *Client) Skills(ctx context.Context, source string) iter.Seq2[Skill, error] {
	query := url.Values{}
	if source != "" {
		query.Set("source", source)
	}
	return pages[Skill](ctx, c, query, "skills")
}

// Versions yields the versions of a skill. An error is the last.
func (c *Client) Versions(ctx context.Context, skill string) iter.Seq2[SkillVersion, error] {
	return pages[SkillVersion](ctx, c, url.Values{}, "skills", skill, "versions")
}

// DeleteVersion deletes a version of a skill.
func (c *Client) DeleteVersion(ctx context.Context, skill, id string) error {
	return c.delete(ctx, "skills", skill, "versions", id)
}

// DeleteSkill deletes a skill, which the API does only where it has no versions
// any more.
func (c *Client) DeleteSkill(ctx context.Context, id string) error {
	return c.delete(ctx, "skills", id)
}

func (c *Client) delete(ctx context.Context, path ...string) error {
	var deleted struct{}
	return c.do(ctx, call{method: http.MethodDelete, path: path}, &deleted)
}

// pages yields all that a list has.
func pages[T any](ctx context.Context, c *Client, query url.Values, path ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for before := "-"; before != query.Get("page"); {
			var page struct {
				Data     []T    `json:"data"`
				NextPage string `json:"next_page"`
			}
			if err := c.do(ctx, get(query, path...), &page); err != nil {
				yield(*new(T), err)
				return
			}
			for _, one := range page.Data {
				if !yield(one, nil) {
					return
				}
			}
			if page.NextPage == "" {
				return
			}
			before = query.Get("page")
			query.Set("page", page.NextPage)
		}
		yield(*new(T), fmt.Errorf("the API repeats a page of its list"))
	}
}

// part is a file in a form.
type part struct {
	field, name, mediaType string
	data                   []byte
}

func skillParts(files []SkillFile) []part {
	parts := make([]part, len(files))
	for i, file := range files {
		parts[i] = part{"files[]", file.Path, "application/octet-stream", file.Data}
	}
	return parts
}

// upload is the request that sends files.
func upload(parts []part, path ...string) (call, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, p := range parts {
		if strings.ContainsAny(p.name, "\r\n\"\x00") {
			return call{}, fmt.Errorf("the file %q has a name that cannot be uploaded", p.name)
		}
		header := textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%s"`, p.field, p.name)},
			"Content-Type":        {p.mediaType},
		}
		content, err := form.CreatePart(header)
		if err == nil {
			_, err = content.Write(p.data)
		}
		if err != nil {
			return call{}, err
		}
	}
	if err := form.Close(); err != nil {
		return call{}, err
	}
	return call{
		method: http.MethodPost, path: path, body: body.Bytes(), once: true,
		header: http.Header{"Content-Type": {form.FormDataContentType()}},
	}, nil
}
