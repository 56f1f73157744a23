// Package image has an engine build the images in which programs of skills run.
// The entry program of a container is this program itself, or the same one for
// another system or architecture. An image is tried before it gets its name.
package image

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// DefaultBase is the image that others are built of.
const DefaultBase = "ubuntu:24.04"

// ErrBase means that the image to build of is not to be had.
var ErrBase = errors.New("the base image cannot be had")

// digestLabel has what an image is made of, besides what others keep.
const digestLabel = "skills-mcp.entry-digest"

//go:embed Dockerfile
var dockerfile []byte

// Options say what is built, and where. The zero value is the full image of the
// first engine that answers.
type Options struct {
	// Host and Remote are those of [docker.Options].
	Host   string
	Remote docker.Remote
	// Contents are what the image has. If empty, [Full].
	Contents Contents
	// Tag is the name of the image. If empty, [docker.DefaultImage].
	Tag string
	// Base is a Debian or an Ubuntu. If empty, [DefaultBase], which the engine pulls
	// where it does not have it.
	Base string
	// Debootstrap makes the base of the packages of this machine's Debian or Ubuntu
	// instead, so that no registry of images is needed.
	Debootstrap bool
	// Entry is a file with this program for Linux and the engine's architecture. If
	// empty, this program.
	Entry string
	// Cached leaves an image as it is that was built of the same.
	Cached bool
	// Progress gets what the engine says meanwhile. If nil, nobody does.
	Progress io.Writer
}

// Built is an image.
type Built struct {
	ID    string
	Tag   string
	Bytes int64
	// Cached means that it was there.
	Cached bool
}

// Build builds an image. The error may be [ErrEntry], [ErrBase] or
// [ErrNoDebootstrap]; where there is no engine it is what [docker.New] returns.
func Build(ctx context.Context, options Options) (Built, error) {
	options.Contents = cmp.Or(options.Contents, Full)
	options.Tag = cmp.Or(options.Tag, docker.DefaultImage)
	options.Base = cmp.Or(options.Base, DefaultBase)
	if options.Progress == nil {
		options.Progress = io.Discard
	}
	e, err := docker.Reach(ctx, docker.Options{Host: options.Host, Remote: options.Remote})
	if err != nil {
		return Built{}, err
	}
	b := &builder{Options: options, engine: e}
	built, err := b.build(ctx)
	return built, errors.Join(err, e.Close())
}

type builder struct {
	Options
	engine         *engine.Engine
	arch           string
	system, python []string
	entry          *os.File
}

func (b *builder) build(ctx context.Context) (Built, error) {
	if err := b.gather(ctx); err != nil {
		return Built{}, err
	}
	defer b.entry.Close()
	digest, err := b.digest()
	if err != nil {
		return Built{}, err
	}
	if there, err := b.engine.Image(ctx, b.Tag); b.Cached && err == nil && there.Labels[digestLabel] == digest {
		return Built{ID: there.ID, Tag: b.Tag, Bytes: there.Bytes, Cached: true}, nil
	}
	id, err := b.make(ctx, digest)
	if err != nil {
		return Built{}, err
	}
	if err := b.try(ctx, id); err != nil {
		return Built{}, errors.Join(fmt.Errorf("the image was built, but does not work: %w", err), b.engine.RemoveImage(ctx, id))
	}
	made, err := b.engine.Image(ctx, id)
	if err != nil {
		return Built{}, err
	}
	return Built{ID: made.ID, Tag: b.Tag, Bytes: made.Bytes}, b.engine.Tag(ctx, id, b.Tag)
}

// gather finds what the image is made of.
func (b *builder) gather(ctx context.Context) (err error) {
	if b.system, b.python, err = b.Contents.lists(); err != nil {
		return err
	}
	if b.arch, err = b.engine.Arch(ctx); err != nil {
		return err
	}
	b.entry, err = openEntry(b.Entry, b.arch)
	return err
}

// digest is that of all that decides on what the image is.
func (b *builder) digest() (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %t\n", b.system, b.python, b.Base, b.Debootstrap)
	sum.Write(dockerfile)
	if _, err := io.Copy(sum, io.NewSectionReader(b.entry, 0, maxEntryBytes)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// make has the engine build the image, without a name.
func (b *builder) make(ctx context.Context, digest string) (id string, err error) {
	args := registries()
	args["PYTHON_PACKAGES"] = strings.Join(b.python, " ")
	if b.Debootstrap {
		var base string
		if base, err = rootFileSystem(ctx, b.engine, b.Contents, b.arch, b.system, b.Progress); err != nil {
			return "", err
		}
		_, args["BASE"], _ = strings.Cut(base, ":")
	} else {
		if err := b.pullBase(ctx); err != nil {
			return "", err
		}
		args["BASE"], args["PACKAGES"] = b.Base, strings.Join(b.system, " ")
	}
	archive, sent := io.Pipe()
	go func() { sent.CloseWithError(b.writeContext(sent)) }()
	defer archive.Close()
	id, err = b.engine.Build(ctx, engine.Build{
		Context: archive, Args: args,
		Labels: map[string]string{protocol.VersionLabel: protocol.Version, digestLabel: digest},
	}, b.Progress)
	if err == nil && id == "" {
		err = errors.New("the engine does not say which image it has built")
	}
	return id, err
}

// pullBase has the engine get the base image, unless it has it.
func (b *builder) pullBase(ctx context.Context) error {
	_, err := b.engine.Image(ctx, b.Base)
	if errors.Is(err, engine.ErrNoImage) {
		if err = b.engine.Pull(ctx, b.Base, b.Progress); err != nil {
			err = fmt.Errorf("%w: %s: %w", ErrBase, b.Base, err)
		}
	}
	return err
}

// writeContext writes what the Dockerfile needs, the same bytes for the same entry
// program, so that engines know what they have built before.
func (b *builder) writeContext(to io.Writer) error {
	entry, err := b.entry.Stat()
	if err != nil {
		return err
	}
	certificates, err := pipCertificates()
	if err != nil {
		return err
	}
	archive := tar.NewWriter(to)
	for _, file := range []struct {
		name    string
		mode    int64
		size    int64
		content io.Reader
	}{
		{"Dockerfile", 0o644, int64(len(dockerfile)), bytes.NewReader(dockerfile)},
		{"entry", 0o755, entry.Size(), io.NewSectionReader(b.entry, 0, entry.Size())},
		{"pip.pem", 0o644, int64(len(certificates)), bytes.NewReader(certificates)},
	} {
		if err := archive.WriteHeader(&tar.Header{Name: file.name, Mode: file.mode, Size: file.size, ModTime: time.Unix(0, 0)}); err != nil {
			return err
		}
		if _, err := io.Copy(archive, file.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// try runs a program in the image.
func (b *builder) try(ctx context.Context, id string) error {
	backend, err := docker.New(ctx, docker.Options{Host: b.Host, Remote: b.Remote, Image: id})
	if err != nil {
		return err
	}
	return backend.Close()
}
