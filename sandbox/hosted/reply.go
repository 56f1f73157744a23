package hosted

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
)

const (
	// maxReplyBytes is how much comes back: a file of the API has 500 MB at most.
	maxReplyBytes = 400 << 20
	// maxHeadBytes is how long the head of a reply may be.
	maxHeadBytes = 64 << 10
	// maxMade is how many files that a run left with the API are looked at.
	maxMade = 20
)

// reply is what the script in the container says of a run. What a program of a run
// did to it concerns that run alone.
type reply struct {
	// Fault is the rule of why the program was not started, and all else empty.
	Fault  string `json:"fault"`
	Code   int    `json:"code"`
	Signal string `json:"signal"`
	// Killed is the limit at which it was killed, or empty.
	Killed            string   `json:"killed"`
	LeftBehind        []string `json:"leftBehind"`
	LeftBehindOmitted int      `json:"leftBehindOmitted"`
	CPUNs             int64    `json:"cpuNs"`
	PeakBytes         int64    `json:"peakBytes"`
	// Whole reports that all changes come back.
	Whole bool `json:"whole"`
	// The lengths of what follows.
	Stdout int64 `json:"stdout"`
	Stderr int64 `json:"stderr"`
	Files  int64 `json:"files"`
}

// frame is what the script prints at its end.
type frame struct {
	digest string
	size   int64
}

const errNoFrame = mismatch("the run did not come to its end in the container: what it printed there is no frame")

// readFrame reads the frame, which is all that there is to be read.
func readFrame(printed, nonce string) (frame, error) {
	rest, ok := strings.CutPrefix(printed, "skills-mcp "+nonce+" ")
	digest, number, _ := strings.Cut(strings.TrimSuffix(rest, "\n"), " ")
	size, err := strconv.ParseInt(number, 10, 64)
	sum, hexErr := hex.DecodeString(digest)
	if !ok || err != nil || hexErr != nil || len(sum) != sha256.Size || size <= 0 || size > maxReplyBytes || number != strconv.FormatInt(size, 10) {
		return frame{}, errNoFrame
	}
	return frame{digest, size}, nil
}

// download writes the file that a frame is about, which a result names, and returns
// the ids of all files that the run left with the API.
func download(ctx context.Context, api *anthropic.Client, result *anthropic.BashResult, f frame, name string, to io.Writer) (made []string, err error) {
	for _, file := range result.Content {
		made = append(made, file.FileID)
	}
	for _, id := range made[:min(len(made), maxMade)] {
		known, err := api.File(ctx, id)
		if err != nil {
			return made, err
		}
		if known.Filename != name || known.SizeBytes != f.size {
			continue
		}
		sum := sha256.New()
		if err := api.Download(ctx, id, io.MultiWriter(to, sum), f.size); err != nil {
			return made, err
		}
		if hex.EncodeToString(sum.Sum(nil)) != f.digest {
			return made, mismatch("what came back is not what the container wrote")
		}
		return made, nil
	}
	return made, mismatch("the container did not hand over what the run wrote")
}

// readReply reads the head of a reply, and returns its parts.
func readReply(r io.ReaderAt, size int64) (head reply, stdout, stderr, files io.Reader, err error) {
	line, err := bufio.NewReaderSize(io.NewSectionReader(r, 0, min(size, maxHeadBytes)), maxHeadBytes).ReadSlice('\n')
	if err != nil {
		return head, nil, nil, nil, mismatch("what came back has no head")
	}
	if err := json.Unmarshal(bytes.TrimSpace(line), &head); err != nil {
		return head, nil, nil, nil, mismatch("what came back has no head")
	}
	at := int64(len(line))
	left := size - at
	for _, length := range []int64{head.Stdout, head.Stderr, head.Files} {
		if length < 0 || length > left {
			return head, nil, nil, nil, mismatch("what came back is shorter than it says")
		}
		left -= length
	}
	section := func(length int64) io.Reader {
		at += length
		return io.NewSectionReader(r, at-length, length)
	}
	return head, section(head.Stdout), section(head.Stderr), section(head.Files), nil
}
