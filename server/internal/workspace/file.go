package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// Source is where a file is.
type Source string

// The places of files that answers name.
const (
	FromWorkspace Source = "workspace"
	FromProject   Source = "project"
	FromShare     Source = "share"
)

// File is a file that a program or a tool made, or that a directory of a workspace
// holds, as every answer has it.
type File struct {
	// ID is what the file is read by: its URI, or of a file of the user its path as
	// programs see it.
	ID string `json:"id"`
	// Filename is its path in the workspace, or as answers have it in the user's
	// directory.
	Filename string `json:"filename"`
	Size     int64  `json:"size"`
	MIMEType string `json:"mimeType"`
	// Digest is "sha256:" and the hash in hexadecimal, or empty where it is not
	// known.
	Digest string `json:"digest,omitempty"`
	Source Source `json:"source"`
}

// FileSchema describes a [File].
const FileSchema = `{
        "type": "object",
        "properties": {
          "id": {"type": "string", "description": "URI to read it by; of a file of the user its path."},
          "filename": {"type": "string", "description": "Path in the workspace, or in the user's directory."},
          "size": {"type": "integer"}, "mimeType": {"type": "string"},
          "digest": {"type": "string", "description": "sha256: and the hash in hexadecimal; absent for very large files."},
          "source": {"type": "string", "enum": ["workspace", "project", "share"], "description": "Where it is."}
        },
        "required": ["id", "filename", "size", "mimeType", "source"]
      }`

// NewFile returns a file of a workspace, with a digest or none.
func NewFile(handle, path string, size int64, digest string) File {
	return File{
		ID: URI(handle, path), Filename: strings.ToValidUTF8(path, "\uFFFD"), Size: size, MIMEType: contained.TypeByName(path),
		Digest: digest, Source: FromWorkspace,
	}
}

// Meta is the file as the _meta of a resource.
func (f File) Meta() *mcp.Meta {
	fields := map[string]any{"id": f.ID, "filename": f.Filename, "size": f.Size, "mimeType": f.MIMEType, "source": f.Source}
	if f.Digest != "" {
		fields["digest"] = f.Digest
	}
	return &mcp.Meta{AdditionalFields: fields}
}

// maxDigestedBytes is how many bytes of one listing's files are read for their
// digests.
const maxDigestedBytes = 16 << 20

// Files returns the files among the entries of a listing of an opened workspace,
// with the digests of as many as [maxDigestedBytes] goes for.
func Files(dir *contained.Dir, handle string, entries []contained.Entry) []File {
	files, left := []File{}, int64(maxDigestedBytes)
	for _, entry := range entries {
		if entry.Dir {
			continue
		}
		digest := ""
		if entry.Size <= left {
			left -= entry.Size
			digest = digestOf(dir, entry)
		}
		files = append(files, NewFile(handle, entry.Path, entry.Size, digest))
	}
	return files
}

// digestOf returns the digest of a file that was listed, or nothing where it is not
// any more what was listed.
func digestOf(dir *contained.Dir, entry contained.Entry) string {
	hash := sha256.New()
	if _, size, err := dir.Copy(hash, entry.Path, entry.Size+1); err != nil || size != entry.Size {
		return ""
	}
	return digest(hash.Sum(nil))
}

// Digest returns the digest of a file of these bytes.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digest(sum[:])
}

func digest(sum []byte) string { return "sha256:" + hex.EncodeToString(sum) }
