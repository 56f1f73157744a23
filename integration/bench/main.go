// Bench runs the built skills-mcp as hosts do, on libraries of 100, 1,000 and
// 10,000 skills, and prints what that took beside the goals that we set, beside
// other builds of ours, and beside what others wrote for the same.
//
//	go run ./integration/bench -binary bin/skills-mcp
//
// The sides of a comparison are measured in one run and in turns, and each is
// told by its median: other load on the machine then moves the ratio little.
// What is not installed is left out, and the table says so.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
)

// regression is how much worse than the other build a measure may be.
const regression = 1.2

var errRegressed = fmt.Errorf("worse than the other build by %.0f %% or more", 100*(regression-1))

func main() {
	if len(os.Args) == 3 && os.Args[1] == bareMode {
		fatal(serveBare(os.Args[2]))
		return
	}
	var o options
	flag.StringVar(&o.binary, "binary", "bin/skills-mcp", "the program to measure")
	flag.StringVar(&o.base, "base", "", "another build of it, to compare with")
	flag.BoolVar(&o.peers, "peers", false, "compare with what others wrote, too")
	flag.StringVar(&o.page, "page", "", "a page of the documentation, in which the table is written")
	flag.Float64Var(&o.effort, "effort", 1, "by how much there are more rounds, or fewer")
	only := flag.String("only", "", "measure what matches this `REGEXP` alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	pattern, err := regexp.Compile(*only)
	if err == nil {
		o.only = pattern
		err = run(ctx, o)
	}
	fatal(err)
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	binary, base, page string
	peers              bool
	effort             float64
	only               *regexp.Regexp
}

// bench is one run.
type bench struct {
	options
	ctx       context.Context
	dir       string // for all that the run makes
	libraries map[int]string
	saves     int
}

func run(ctx context.Context, o options) (err error) {
	for _, binary := range []*string{&o.binary, &o.base} {
		if *binary == "" {
			continue
		}
		if *binary, err = filepath.Abs(*binary); err != nil {
			return err
		}
		if _, err := os.Stat(*binary); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "skills-mcp-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &bench{options: o, ctx: ctx, dir: dir, libraries: map[int]string{}}
	var rows []row
	for _, m := range measures() {
		if !o.only.MatchString(m.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", m.name)
		row, err := b.measure(m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		rows = append(rows, row)
	}
	relevance, err := b.relevance()
	if err != nil {
		return err
	}
	report := report{machine: thisMachine(), version: version(b.binary), rows: rows, relevance: relevance}
	report.print(os.Stdout)
	if o.page != "" {
		if err := report.update(o.page); err != nil {
			return err
		}
	}
	return report.regressed()
}
