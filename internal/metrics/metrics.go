// Package metrics counts what a server does, and writes it as text that Prometheus
// reads (text/plain; version=0.0.4).
//
// It is a small part of what the official client library does, which the tests
// hold it to. That one would cost every process of this program two megabytes and
// most of a millisecond at its start, also those that are started for each run of a
// skill.
package metrics

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ContentType is the media type of what [Registry.Write] writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// MaxSeries is how many series one metric has, so that names which others choose
// cannot fill the memory. All further ones are one, whose labels are [Other].
const MaxSeries = 1000

// Other is the value of labels for which there is no room.
const Other = "other"

// Registry has the metrics of a server. Its zero value is ready to use, by several
// goroutines. Metrics are written in the order in which they were made.
type Registry struct {
	mu       sync.Mutex
	families []*family
}

// family is a metric with its series.
type family struct {
	mu               sync.Mutex
	name, help, kind string
	labels           []string
	bounds           []float64 // of a histogram's buckets, rising
	read             func() float64
	series           map[string]*series // by their labels as they are written
}

// series is a metric for some values of its labels.
type series struct {
	value   float64 // the sum of a histogram
	count   uint64
	buckets []uint64 // those below each bound, and above the one before
}

func (r *Registry) add(f *family) *family {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.families = append(r.families, f)
	return f
}

// Counter is a number that only rises.
type Counter struct{ family *family }

// Counter makes a counter, whose name ends in _total, with labels of these names.
func (r *Registry) Counter(name, help string, labels ...string) Counter {
	f := &family{name: name, help: help, kind: "counter", labels: labels, series: map[string]*series{}}
	if len(labels) == 0 {
		f.series[""] = &series{}
	}
	return Counter{r.add(f)}
}

// Add adds to the counter of these values of its labels. What is not above 0 is
// not added.
func (c Counter) Add(n float64, values ...string) {
	if !(n > 0) {
		return
	}
	c.family.mu.Lock()
	defer c.family.mu.Unlock()
	c.family.at(values).value += n
}

// Histogram counts values by how large they are.
type Histogram struct{ family *family }

// Histogram makes a histogram with buckets up to these bounds, which rise.
func (r *Registry) Histogram(name, help string, bounds []float64, labels ...string) Histogram {
	return Histogram{r.add(&family{name: name, help: help, kind: "histogram", labels: labels, bounds: bounds, series: map[string]*series{}})}
}

// Observe adds a value to the histogram of these values of its labels.
func (h Histogram) Observe(value float64, values ...string) {
	h.family.mu.Lock()
	defer h.family.mu.Unlock()
	s := h.family.at(values)
	if s.buckets == nil {
		s.buckets = make([]uint64, len(h.family.bounds))
	}
	s.value += value
	s.count++
	if at, _ := slices.BinarySearch(h.family.bounds, value); at < len(s.buckets) {
		s.buckets[at]++
	}
}

// Gauge makes a metric without labels, whose value is read when it is written.
func (r *Registry) Gauge(name, help string, read func() float64) {
	r.add(&family{name: name, help: help, kind: "gauge", read: read})
}

// at returns the series of these values, one for each label. The lock is held.
func (f *family) at(values []string) *series {
	var room [256]byte
	key := f.appendKey(room[:0], values)
	if s := f.series[string(key)]; s != nil {
		return s
	}
	if len(f.series) >= MaxSeries {
		key = f.appendKey(nil, slices.Repeat([]string{Other}, len(f.labels)))
	}
	if f.series[string(key)] == nil {
		f.series[string(key)] = &series{}
	}
	return f.series[string(key)]
}

// appendKey appends the labels with their values as they are written.
func (f *family) appendKey(key []byte, values []string) []byte {
	for i, name := range f.labels {
		if i > 0 {
			key = append(key, ',')
		}
		key = append(append(key, name...), `="`...)
		key = append(append(key, escapeLabel(values[i])...), '"')
	}
	return key
}

// Write writes all metrics as they are now.
func (r *Registry) Write(w io.Writer) error {
	r.mu.Lock()
	families := slices.Clone(r.families)
	r.mu.Unlock()
	out := bufio.NewWriter(w)
	for _, f := range families {
		f.write(out)
	}
	return out.Flush()
}

func (f *family) write(out *bufio.Writer) {
	read := 0.0
	if f.read != nil {
		read = f.read() // which may take locks of its own
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", f.name, escapeHelp(f.help), f.name, f.kind)
	if f.read != nil {
		fmt.Fprintf(out, "%s %s\n", f.name, number(read))
	}
	for _, key := range slices.Sorted(maps.Keys(f.series)) {
		if s := f.series[key]; f.kind == "histogram" {
			f.writeHistogram(out, key, s)
		} else {
			fmt.Fprintf(out, "%s%s %s\n", f.name, braced(key), number(s.value))
		}
	}
}

func (f *family) writeHistogram(out *bufio.Writer, key string, s *series) {
	below := key
	if below != "" {
		below += ","
	}
	sum := uint64(0)
	for i, bound := range f.bounds {
		sum += s.buckets[i]
		fmt.Fprintf(out, "%s_bucket{%sle=%q} %d\n", f.name, below, number(bound), sum)
	}
	fmt.Fprintf(out, "%s_bucket{%sle=\"+Inf\"} %d\n", f.name, below, s.count)
	fmt.Fprintf(out, "%s_sum%s %s\n%s_count%s %d\n", f.name, braced(key), number(s.value), f.name, braced(key), s.count)
}

func braced(key string) string {
	if key == "" {
		return ""
	}
	return "{" + key + "}"
}

// number is a value as Prometheus reads it.
func number(value float64) string {
	switch {
	case math.IsInf(value, 1):
		return "+Inf"
	case math.IsInf(value, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}

// escapeLabel keeps a value within its quotes and its line. What is not UTF-8 is
// replaced, which else would spoil the whole text.
func escapeLabel(value string) string {
	return labelEscapes.Replace(strings.ToValidUTF8(value, "\uFFFD"))
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func escapeHelp(text string) string { return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(text) }
