package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestSubscriptionsAreBounded: what one client and all clients subscribe to
// is bounded, and what they leave is free again.
func TestSubscriptionsAreBounded(t *testing.T) {
	var subs subscriptions
	client := func() (context.Context, *notices) {
		box := newNotices()
		subs.join(box, func(string) bool { return true })
		return withNotices(t.Context(), box), box
	}
	many := make([]string, maxSubscriptions+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	ctx, box := client()
	if refused := subs.add(ctx, "1", many[:maxSubscriptions]...); refused != 0 {
		t.Errorf("within the bound %d were refused", refused)
	}
	if refused := subs.add(ctx, "2", many...); refused != len(many) {
		t.Errorf("beyond the bound, by another request, %d were refused", refused)
	}
	subs.remove(ctx, "1", many[0])
	if refused := subs.add(ctx, "1", many...); refused != 1 {
		t.Errorf("in the place of one that was left, %d were refused", refused)
	}
	subs.leave(box)

	var boxes []*notices
	long := strings.Repeat("x", maxSubscribedBytes)
	for range maxSubscribedBytesOfAll / maxSubscribedBytes {
		ctx, box := client()
		boxes = append(boxes, box)
		if refused := subs.add(ctx, "", long, "y"); refused != 1 {
			t.Errorf("%d were refused for the length of one client's", refused)
		}
	}
	ctx, box = client()
	if refused := subs.add(ctx, "", "y"); refused != 1 {
		t.Errorf("%d were refused for the length of all", refused)
	}
	for _, box := range append(boxes, box) {
		subs.leave(box)
	}
	if subs.bytes != 0 || len(subs.listeners) != 0 {
		t.Errorf("in the end there are %d bytes of %d clients", subs.bytes, len(subs.listeners))
	}
}
