package contained

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// Media types that are not looked up.
const (
	DirectoryType = "inode/directory"
	markdownType  = "text/markdown"
	plainType     = "text/plain"
	binaryType    = "application/octet-stream"
	svgType       = "image/svg+xml"
)

// sniffBytes is how much of a file's beginning shows its media type.
const sniffBytes = 4096

// typeOfExtension has the extensions that skills are made of, in lower case.
var typeOfExtension = map[string]string{
	".md": markdownType, ".markdown": markdownType, ".mdx": markdownType,
	".txt": plainType, ".text": plainType, ".log": plainType, ".conf": plainType, ".cfg": plainType, ".ini": plainType,
	".env": plainType, ".lock": plainType, ".diff": "text/x-diff", ".patch": "text/x-diff",
	".html": "text/html", ".htm": "text/html", ".css": "text/css", ".tex": "text/x-tex", ".rst": "text/x-rst",
	".csv": "text/csv", ".tsv": "text/tab-separated-values",
	".json": "application/json", ".jsonl": "application/jsonl", ".yaml": "application/yaml", ".yml": "application/yaml",
	".toml": "application/toml", ".xml": "application/xml", ".xsd": "application/xml", ".svg": svgType,
	".sql": "application/sql", ".ipynb": "application/x-ipynb+json",

	".py": "text/x-python", ".sh": "text/x-shellscript", ".bash": "text/x-shellscript", ".zsh": "text/x-shellscript",
	".js": "text/javascript", ".mjs": "text/javascript", ".cjs": "text/javascript", ".jsx": "text/javascript",
	".ts": "text/x-typescript", ".tsx": "text/x-typescript", ".go": "text/x-go", ".rs": "text/x-rust",
	".rb": "text/x-ruby", ".pl": "text/x-perl", ".php": "text/x-php", ".lua": "text/x-lua", ".r": "text/x-r",
	".c": "text/x-c", ".h": "text/x-c", ".cc": "text/x-c++", ".cpp": "text/x-c++", ".hpp": "text/x-c++",
	".java": "text/x-java", ".kt": "text/x-kotlin", ".swift": "text/x-swift", ".cs": "text/x-csharp",
	".ps1": "text/x-powershell", ".bat": "text/x-batch", ".cmd": "text/x-batch",

	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".pdf":  "application/pdf",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".odt":  "application/vnd.oasis.opendocument.text",
	".zip":  "application/zip", ".gz": "application/gzip", ".tar": "application/x-tar", ".tgz": "application/gzip",
	".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4", ".webm": "video/webm",
	".wasm": "application/wasm", ".sqlite": "application/vnd.sqlite3",
}

// IsImage reports whether a model can look at a media type: PNG, JPEG, WebP and
// GIF.
func IsImage(mime string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/gif"}, mime)
}

// TypeByName returns the media type by a file's name alone, or
// application/octet-stream where that is of no use.
func TypeByName(name string) string {
	if named := typeOfExtension[strings.ToLower(path.Ext(name))]; named != "" {
		return named
	}
	return binaryType
}

// isTextType reports whether files of a type of the table are text.
func isTextType(mime string) bool {
	family, sub, _ := strings.Cut(mime, "/")
	return family == "text" || slices.Contains([]string{"json", "jsonl", "yaml", "toml", "xml", "sql", "svg+xml", "x-ipynb+json"}, sub)
}

// listedType is the media type by the name alone, or empty where that is of no
// use.
func (d *Dir) listedType(clean string) string {
	if d.options.Entry != "" && clean == d.options.Entry {
		return markdownType
	}
	return typeOfExtension[strings.ToLower(path.Ext(clean))]
}

// mediaType is the media type by the name where the file's beginning bears it
// out, and else by that beginning.
func (d *Dir) mediaType(clean string, head []byte) string {
	head = head[:min(len(head), sniffBytes)]
	named, text := d.listedType(clean), isTextHead(head)
	if named == "" || IsImage(named) || isTextType(named) && !text {
		return sniff(head, text)
	}
	return named
}

// sniff returns the media type by the beginning. Text is no image but SVG, even
// if it begins like one.
func sniff(head []byte, text bool) string {
	if len(head) == 0 {
		return plainType
	}
	mime := mimetype.Detect(head).String()
	mime = strings.TrimSuffix(mime, "; charset=utf-8")
	switch {
	case text && mime != svgType && (strings.HasPrefix(mime, "image/") || mime == binaryType):
		return plainType
	case !text && mime == plainType:
		return binaryType
	}
	return mime
}

// isTextHead reports whether a beginning is UTF-8 without NUL. It may end inside
// a character.
func isTextHead(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	if len(head) == sniffBytes {
		for cut := range utf8.UTFMax {
			if utf8.Valid(head[:len(head)-cut]) {
				return true
			}
		}
		return false
	}
	return utf8.Valid(head)
}
