// Serve is the least server of skills that can be made with the official Go SDK,
// for comparisons: each SKILL.md of a directory is a resource. It serves standard
// input and output, or streamable HTTP at /mcp where an address is given.
//
//	serve DIRECTORY [HOST:PORT]
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	server, err := newServer(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if len(os.Args) == 2 {
		err = server.Run(context.Background(), &mcp.StdioTransport{})
	} else {
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{JSONResponse: true})
		err = http.ListenAndServe(os.Args[2], handler)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// newServer returns a server that reads a skill each time that a client does.
func newServer(dir string) (*mcp.Server, error) {
	server := mcp.NewServer(&mcp.Implementation{Name: "skills", Version: "1"}, nil)
	files, err := filepath.Glob(filepath.Join(dir, "*", "SKILL.md"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		resource := &mcp.Resource{URI: "skill://" + name + "/SKILL.md", Name: name, MIMEType: "text/markdown"}
		server.AddResource(resource, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: resource.URI, MIMEType: resource.MIMEType, Text: string(text)}}}, nil
		})
	}
	return server, nil
}
