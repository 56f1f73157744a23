package tools

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// Limits of one answer of readResource, in bytes. Text is paged; an image or
// another binary is whole or a link, since hosts store as a file what comes. No
// host takes a result of more than 500,000 characters, but for images.
const (
	maxTextPageBytes = 100_000
	maxBinaryBytes   = 256 << 10 // 349,528 characters
	maxImageBytes    = 4 << 20
)

type readArguments struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
}

// reader reads files of skills and of workspaces.
type reader struct {
	skills     skills.Access
	workspaces *workspace.Access
	shares     *shares.Access
	// sandbox is where programs run, which find files by a path.
	sandbox sandbox.Backend
	redact  *redact.Set
}

func readResource(r reader) Tool {
	definition := define("readResource", reads, "Read a skill's file",
		"Read one file of a skill, or list a directory of it, when its instructions point there. Text comes in pages, images as images, other binaries as base64, long ones as a link. Also reads a result file that exec linked: give its workspace:// URI as `path`; and held changes of the user's files: changes://<id> is a diff, changes://<id>/<path> a file.",
		400_000,
		skillNameArgument,
		mcp.WithString("path", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(8192),
			mcp.Description("Path relative to the skill's directory, such as references/guide.md; \".\" lists the skill. Or a workspace:// or changes:// URI from exec.")),
		mcp.WithInteger("offset", mcp.Min(0),
			mcp.Description("First byte to read, from 0; take it from the notice of the page before.")),
		mcp.WithInteger("length", mcp.Min(0),
			mcp.Description("How many bytes to read; 0 or absent means a whole page. With `offset` or `length` a binary comes in part.")),
	)
	return newTool(definition, r.read).shownOn(cards.Read)
}

func (r reader) read(ctx context.Context, arguments readArguments) (*mcp.CallToolResult, error) {
	skill, err := r.skills.Find(ctx, arguments.Name)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(arguments.Path, workspace.Scheme) {
		return r.readArtifact(ctx, skill, arguments)
	}
	if strings.HasPrefix(arguments.Path, shares.Scheme) {
		return r.readChanges(ctx, arguments)
	}
	file, err := contained.Clean(arguments.Path)
	if err != nil {
		return nil, err
	}
	if err := r.skills.PermitRead(ctx, skill, file); err != nil {
		return nil, err
	}
	dir, err := skills.Open(skill)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return r.readPath(ctx, dir, file, linked{path: file, uri: resources.URI(skill, file), seen: "$SKILL_DIR/" + file}, arguments)
}

// readArtifact reads a file that a program left in a workspace.
func (r reader) readArtifact(ctx context.Context, skill *catalog.Skill, arguments readArguments) (*mcp.CallToolResult, error) {
	dir, file, err := r.workspaces.OpenURI(arguments.Path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	handle, named, _ := workspace.ParseURI(arguments.Path) // it was parsed before
	if err := r.skills.Permit(ctx, skill, policy.Request{Op: policy.OpRead, Path: named}); err != nil {
		return nil, err
	}
	if named != file {
		handle = "" // a saved output, or what is no file of programs
	}
	return r.readPath(ctx, dir, file, linked{path: arguments.Path, uri: arguments.Path, handle: handle, seen: "$WORKSPACE/" + file}, arguments)
}

// readChanges reads what programs changed in the user's directories and is not
// applied yet: a diff, or a file.
func (r reader) readChanges(ctx context.Context, arguments readArguments) (*mcp.CallToolResult, error) {
	content, err := r.shares.OpenURI(ctx, arguments.Path)
	if err != nil {
		return nil, err
	}
	if content.Dir == nil {
		return r.diffPage(content.Diff, arguments), nil
	}
	defer content.Dir.Close()
	return r.readPath(ctx, content.Dir, content.File, linked{path: arguments.Path, uri: arguments.Path, seen: content.File}, arguments)
}

// diffPage returns a page of a diff.
func (r reader) diffPage(diff string, arguments readArguments) *mcp.CallToolResult {
	diff = strings.ToValidUTF8(diff, "\uFFFD")
	size := int64(len(diff))
	from := min(arguments.Offset, size)
	length := cmp.Or(min(arguments.Length, maxTextPageBytes), maxTextPageBytes)
	to := min(from+length, size)
	for to < size && to > from && !utf8.RuneStart(diff[to]) {
		to--
	}
	page := contained.Content{MIME: "text/x-diff", Text: true, Data: []byte(diff[from:to]), Offset: from, Size: size}
	if to < size {
		page.Next = to
	}
	return metaOf(arguments.Path, page).mark(textPage(page, r.redact.Part([]byte(diff), int(from), int(to))))
}

// linked is where a file can be had whole.
type linked struct {
	// path is that of the answer's _meta: relative to the skill, or the URI that
	// was asked for.
	path string
	uri  string
	// handle is that of the workspace whose own files it is among, or empty.
	handle string
	// seen is its path as a shell command has it.
	seen string
}

// readPath reads a file or lists a directory.
func (r reader) readPath(ctx context.Context, dir *contained.Dir, file string, at linked, arguments readArguments) (*mcp.CallToolResult, error) {
	opened, err := dir.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if opened.IsDir() {
		return listDirectory(dir, file, opened, at)
	}
	content, err := opened.Read(contained.Range{Offset: arguments.Offset, Length: arguments.Length, Limit: maxTextPageBytes})
	if err != nil {
		return nil, err
	}
	wholeImage := contained.IsImage(content.MIME) && content.Size <= maxImageBytes
	answered := min(content.Size, maxBinaryBytes)
	if wholeImage {
		answered = content.Size
	}
	if err := request.Reserve(ctx, answered); err != nil {
		return nil, err
	}
	switch {
	case content.Text:
		shown, err := withoutSecrets(r.redact, opened, content)
		if err != nil {
			return nil, err
		}
		return metaOf(at.path, content).mark(textPage(content, shown)), nil
	case wholeImage:
		image, err := imageResult(opened)
		if err != nil {
			return nil, err
		}
		content.Next = 0 // it comes as a whole, whatever was asked for
		return metaOf(at.path, content).mark(image), nil
	case content.Size > answered && arguments.Offset == 0 && arguments.Length == 0:
		return r.binaryLink(content, at), nil
	}
	return r.binary(opened, at, arguments)
}

// withoutSecrets returns what was read of a file without values of secrets, be it
// the beginning or the end of one, which nobody would know for that afterwards.
func withoutSecrets(secrets *redact.Set, file *contained.File, content contained.Content) ([]byte, error) {
	data, from, err := file.Around(content, secrets.Margin())
	if err != nil {
		return nil, err
	}
	return secrets.Part(data, from, from+len(content.Data)), nil
}

// textPage returns the text that is shown of a page alone, and a notice after it
// where there is more.
func textPage(content contained.Content, shown []byte) *mcp.CallToolResult {
	result := mcp.NewToolResultText(string(shown))
	if content.Next > 0 {
		result.Content = append(result.Content, mcp.NewTextContent(pageNotice(content)))
	}
	return result
}

func pageNotice(content contained.Content) string {
	return fmt.Sprintf("[Truncated: bytes %d to %d of %d. Read on with \"offset\": %d.]",
		content.Offset, content.Offset+int64(len(content.Data)), content.Size, content.Next)
}

func imageResult(image *contained.File) (*mcp.CallToolResult, error) {
	content, err := image.ReadAll(maxImageBytes)
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultImage(
		fmt.Sprintf("%s (%s, %s)", display.Path(content.Path), content.MIME, display.Size(content.Size)),
		base64.StdEncoding.EncodeToString(content.Data), content.MIME), nil
}

// binary returns the bytes that were asked for, else all. What a host makes of
// a part is no file of that type.
func (r reader) binary(file *contained.File, at linked, arguments readArguments) (*mcp.CallToolResult, error) {
	content, err := file.Read(contained.Range{Offset: arguments.Offset, Length: arguments.Length, Limit: maxBinaryBytes})
	if err != nil {
		return nil, err
	}
	mime, notice, data := content.MIME, "its bytes are attached.", content.Data
	if int64(len(content.Data)) < content.Size {
		if data, err = withoutSecrets(r.redact, file, content); err != nil {
			return nil, err
		}
		mime, notice = "application/octet-stream", "a part of it is attached, which is no such file by itself."
		if content.Next > 0 {
			notice += " " + pageNotice(content)
		}
	}
	return metaOf(at.path, content).mark(&mcp.CallToolResult{Content: []mcp.Content{
		mcp.NewTextContent(binaryText(content) + "; " + notice),
		mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: at.uri, MIMEType: mime, Blob: base64.StdEncoding.EncodeToString(data)}),
	}}), nil
}

func binaryText(content contained.Content) string {
	return fmt.Sprintf("%s is binary (%s, %s)", display.Path(content.Path), content.MIME, display.Size(content.Size))
}

// binaryLink says how to get at a binary that is too long for an answer.
func (r reader) binaryLink(content contained.Content, at linked) *mcp.CallToolResult {
	notice := binaryText(content) + ", too long to come whole in this answer."
	if content.Size <= contained.MaxReadBytes {
		notice += " The resource that is linked gives it whole (resources/read, up to 16 MiB)."
	}
	if r.sandbox.Info().Runs() {
		notice += fmt.Sprintf(" Programs that exec runs find it at %s.", display.Path(at.seen))
	}
	notice += " With `offset` or `length` parts of it come."
	meta := metaOf(at.path, content)
	meta.truncated, meta.next = true, 0 // nothing of it came
	return meta.mark(&mcp.CallToolResult{Content: []mcp.Content{
		mcp.NewTextContent(notice),
		mcp.NewResourceLink(at.uri, strings.ToValidUTF8(content.Path, "\uFFFD"), display.Size(content.Size), content.MIME),
	}})
}

// listDirectory lists a directory, as deep as listings for models go.
func listDirectory(dir *contained.Dir, file string, opened *contained.File, at linked) (*mcp.CallToolResult, error) {
	entries, more, err := opened.List(skills.ListDepth)
	if err != nil {
		return nil, err
	}
	result := readMeta{path: at.path, mime: contained.DirectoryType, truncated: more}.mark(listing(file, entries, more))
	if at.handle != "" {
		result.Meta.AdditionalFields["files"] = workspace.Files(dir, at.handle, entries)
	}
	return result, nil
}

// listLevels lists a directory and what is below it, so many levels deep.
func listLevels(dir *contained.File, path string, levels int) (*mcp.CallToolResult, error) {
	entries, more, err := dir.List(levels)
	if err != nil {
		return nil, err
	}
	return listing(path, entries, more), nil
}

// listing lists what is in a directory.
func listing(path string, entries []contained.Entry, more bool) *mcp.CallToolResult {
	var text strings.Builder
	fmt.Fprintf(&text, "Directory %s:\n", display.Path(path))
	for _, entry := range entries {
		if entry.Dir {
			fmt.Fprintf(&text, "- %s/\n", display.Path(entry.Path))
			continue
		}
		kind := entry.MIME
		if kind != "" {
			kind += ", "
		}
		fmt.Fprintf(&text, "- %s (%s%s)\n", display.Path(entry.Path), kind, display.Size(entry.Size))
	}
	if len(entries) == 0 {
		text.WriteString("(empty)\n")
	}
	if more {
		text.WriteString("… and more; list a directory below it.\n")
	}
	return mcp.NewToolResultText(text.String())
}
