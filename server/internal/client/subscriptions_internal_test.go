package client

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestSubscriptionsAreBounded: what one client and all clients subscribe to
// is bounded, and what they leave is free again.
func TestSubscriptionsAreBounded(t *testing.T) {
	var subs Subscriptions
	open := func() (context.Context, *Client) {
		due := New()
		subs.Join(due, func(string) bool { return true })
		return With(t.Context(), due), due
	}
	many, others := make([]string, maxSubscriptions+1), make([]string, maxSubscriptions+1)
	for i := range many {
		many[i], others[i] = fmt.Sprint(i), fmt.Sprint("other ", i)
	}
	ctx, due := open()
	if refused := subs.Add(ctx, many[:maxSubscriptions]...); refused != 0 {
		t.Errorf("within the bound %d were refused", refused)
	}
	if refused := subs.Add(ctx, others...); refused != len(others) {
		t.Errorf("beyond the bound %d were refused", refused)
	}
	subs.Remove(ctx, many[0])
	if refused := subs.Add(ctx, many...); refused != 1 {
		t.Errorf("in the place of one that was left, %d were refused", refused)
	}
	subs.Leave(due)

	var all []*Client
	long := strings.Repeat("x", maxSubscribedBytes)
	for range maxSubscribedBytesOfAll / maxSubscribedBytes {
		ctx, due := open()
		all = append(all, due)
		if refused := subs.Add(ctx, long, "y"); refused != 1 {
			t.Errorf("%d were refused for the length of one client's", refused)
		}
	}
	ctx, due = open()
	if refused := subs.Add(ctx, "y"); refused != 1 {
		t.Errorf("%d were refused for the length of all", refused)
	}
	for _, due := range append(all, due) {
		subs.Leave(due)
	}
	if subs.bytes != 0 || len(subs.listeners) != 0 {
		t.Errorf("in the end there are %d bytes of %d clients", subs.bytes, len(subs.listeners))
	}
}
