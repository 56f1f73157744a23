package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// side is one of what a measure compares.
type side struct {
	name string
	// once measures once, in the measure's unit.
	once func() (float64, error)
	// close ends what measures; it may be nil.
	close func()
}

// Names of sides.
const (
	ours = "skills-mcp"
	base = "other build"
)

// measure is a row of the table.
type measure struct {
	name, unit string
	rounds     int
	goal       goal
	// sides has what is compared, ours first. An error that is [errMissing] leaves
	// the measure out.
	sides func(*bench) ([]side, error)
}

// goal is what is wanted of our side: a bound of what is measured, or of its
// ratio to another side's.
type goal struct {
	bound   float64 // none where it is zero
	of      string  // the side that it is a multiple of, or empty
	atLeast bool    // more is better
}

// errMissing says what is not there that would be measured.
type errMissing string

func (e errMissing) Error() string { return string(e) }

// row is a measure with what came of it.
type row struct {
	measure
	medians []median
	missing string // why it was left out
}

type median struct {
	side  string
	value float64
}

// measure measures the sides in turns, after a round that does not count.
func (b *bench) measure(m measure) (_ row, err error) {
	sides, err := m.sides(b)
	defer func() {
		for _, side := range sides {
			if side.close != nil {
				side.close()
			}
		}
	}()
	var missing errMissing
	if errors.As(err, &missing) {
		return row{measure: m, missing: string(missing)}, nil
	}
	if err != nil {
		return row{}, err
	}
	values := make([][]float64, len(sides))
	rounds := max(3, int(math.Round(float64(m.rounds)*b.effort)))
	for round := range rounds + 1 {
		for i, side := range sides {
			if err := b.ctx.Err(); err != nil {
				return row{}, err
			}
			value, err := side.once()
			if err != nil {
				return row{}, fmt.Errorf("%s: %w", side.name, err)
			}
			if round > 0 {
				values[i] = append(values[i], value)
			}
		}
	}
	r := row{measure: m}
	for i, side := range sides {
		slices.Sort(values[i])
		r.medians = append(r.medians, median{side.name, values[i][len(values[i])/2]})
	}
	return r, nil
}

// of returns a side's median, and whether it was measured.
func (r row) of(side string) (float64, bool) {
	i := slices.IndexFunc(r.medians, func(m median) bool { return m.side == side })
	if i < 0 {
		return 0, false
	}
	return r.medians[i].value, true
}

// met reports whether the goal is; known is false where there is none, or it
// was not measured.
func (r row) met() (met, known bool) {
	value, ok := r.of(ours)
	if !ok || r.goal.bound == 0 {
		return false, false
	}
	if r.goal.of != "" {
		other, ok := r.of(r.goal.of)
		if !ok {
			return false, false
		}
		value /= other
	}
	if r.goal.atLeast {
		return value >= r.goal.bound, true
	}
	return value <= r.goal.bound, true
}

// regressed reports whether the other build was clearly better.
func (r row) regressed() bool {
	value, ok := r.of(ours)
	other, there := r.of(base)
	if !ok || !there {
		return false
	}
	if r.goal.atLeast {
		return other >= regression*value
	}
	return value >= regression*other
}

// took returns the milliseconds since start.
func took(start time.Time) float64 { return float64(time.Since(start)) / float64(time.Millisecond) }
