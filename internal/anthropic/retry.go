package anthropic

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Waiting before a request is made again, in which an answer of the API may say
// how long: its pauses are longer than ours, and no longer than maxPause.
const (
	firstPause = 500 * time.Millisecond
	longPause  = 8 * time.Second
	maxPause   = time.Minute
)

// again reports whether a request that failed may be made again. What runs or
// creates something is, only where the API has surely not begun with it.
func again(err error, once bool) bool {
	var refused *Error
	var transport *transportError
	switch {
	case errors.As(err, &refused):
		switch refused.Status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
			return true
		case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
			return !once
		}
	case errors.As(err, &transport):
		var dial *net.OpError
		return !once || errors.As(err, &dial) && dial.Op == "dial"
	}
	return false
}

// Begun reports whether the API may have begun with a request that failed with an
// error of this package. It surely has not where it says so, or was not reached.
func Begun(err error) bool {
	var refused *Error
	var transport *transportError
	var key *keyError
	switch {
	case errors.As(err, &refused):
		return refused.Status == http.StatusRequestTimeout || refused.Status >= http.StatusInternalServerError && !again(err, true)
	case errors.As(err, &transport):
		return !again(err, true)
	}
	return !errors.As(err, &key)
}

// backoff is how long to wait after an attempt, the first of which is 0: twice as
// long each time, and not all callers at once.
func backoff(attempt int) time.Duration {
	pause := min(firstPause<<min(attempt, 10), longPause)
	return pause - rand.N(pause/4)
}

// asked is how long an answer asks to wait, or 0 where it does not.
func asked(header http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return min(time.Duration(ms*float64(time.Millisecond)), maxPause)
	}
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, maxPause.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(time.Until(at), maxPause))
	}
	return 0
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
