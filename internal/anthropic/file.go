package anthropic

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"time"
)

// File is a file that the API keeps, uploaded or made in a container.
type File struct {
	// ID begins with "file_".
	ID string `json:"id"`
	// Filename is chosen by whoever made it: no path is to be made of it.
	Filename string `json:"filename"`
	// MIMEType is a guess of the API.
	MIMEType string `json:"mime_type"`
	// SizeBytes is how long it is.
	SizeBytes int64     `json:"size_bytes"`
	CreatedAt time.Time `json:"created_at"`
	// Downloadable reports that [Client.Download] gives it: only what was made
	// in a container.
	Downloadable bool `json:"downloadable"`
}

// UploadFile uploads a file, which the API can show to a container.
func (c *Client) UploadFile(ctx context.Context, name string, data []byte) (File, error) {
	request, err := upload([]part{{"file", name, "application/octet-stream", data}}, "files")
	if err != nil {
		return File{}, err
	}
	var file File
	return file, c.do(ctx, request, &file)
}

// File returns what the API knows of a file.
func (c *Client) File(ctx context.Context, id string) (file File, err error) {
	return file, c.do(ctx, get(nil, "files", id), &file)
}

// Files yields the files of the user's workspace. An error is the last.
func (c *Client) Files(ctx context.Context) iter.Seq2[File, error] {
	return pages[File](ctx, c, url.Values{}, "files")
}

// Download writes the content of a file, which has no more bytes than limit. Where
// there is an error, a part of it may have been written.
func (c *Client) Download(ctx context.Context, id string, to io.Writer, limit int64) error {
	return c.stream(ctx, get(nil, "files", id, "content"), func(body io.Reader) error {
		written, err := io.Copy(to, io.LimitReader(body, limit+1))
		if err == nil && written > limit {
			err = fmt.Errorf("the file has more than %d bytes", limit)
		}
		return err
	})
}

// DeleteFile deletes a file.
func (c *Client) DeleteFile(ctx context.Context, id string) error {
	return c.delete(ctx, "files", id)
}
