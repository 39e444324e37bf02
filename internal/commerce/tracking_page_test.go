package commerce

import (
	"strings"
	"testing"
)

// TestTrackingPages: the address of a page leads to its order, and no other text does.
func TestTrackingPages(t *testing.T) {
	pages := TrackingPages{URL: "https://shop.example", Secret: []byte("secret")}
	order, other := NewOrderID(70, 5000, Entropy{1}), NewOrderID(70, 5000, Entropy{2})
	token, ok := strings.CutPrefix(pages.PageOf(order), "https://shop.example/track/")
	if body := strings.TrimPrefix(order, PrefixOrder); !ok || !strings.HasPrefix(token, body+"_") || len(token) != len(body)+1+26 {
		t.Fatalf("%s has the page %s", order, pages.PageOf(order))
	}
	if got, ok := pages.OrderOf(token); !ok || got != order {
		t.Errorf("%s leads to %s", token, got)
	}
	mac := token[len(token)-26:]
	wrong := []string{"", "_", order, mac, strings.TrimPrefix(order, PrefixOrder), token[:len(token)-1], token + "0", strings.ToUpper(token), " " + token, PrefixOrder + token,
		strings.TrimPrefix(order, PrefixOrder) + "_", strings.TrimPrefix(other, PrefixOrder) + "_" + mac, "0" + token, token + "_" + mac}
	for i := range token {
		flipped := "0"
		if token[i] == '0' {
			flipped = "1"
		}
		wrong = append(wrong, token[:i]+flipped+token[i+1:])
	}
	for _, text := range wrong {
		if got, ok := pages.OrderOf(text); ok {
			t.Errorf("%q leads to %s", text, got)
		}
	}
	for _, elsewhere := range []TrackingPages{{Secret: []byte("Secret")}, {}} {
		if _, ok := elsewhere.OrderOf(token); ok {
			t.Errorf("a database with another secret takes %s", token)
		}
	}
	if page := (TrackingPages{}).PageOf(order); page != "" {
		t.Error(page)
	}
}

// TestEnded: the end is the first of the last statuses that are ends, whatever happens then.
func TestEnded(t *testing.T) {
	at := func(on Millis, s OrderStatus) TimelineEvent { return TimelineEvent{CreatedOn: on, Status: s} }
	for _, c := range []struct {
		status   OrderStatus
		timeline []TimelineEvent
		want     Millis
	}{
		{OutForDelivery, []TimelineEvent{at(1, Processed), at(2, OutForDelivery)}, 0},
		{Delivered, []TimelineEvent{at(1, Processed), at(2, ""), at(3, Delivered), at(4, "")}, 3},
		{Refunded, []TimelineEvent{at(1, Processed), at(3, Delivered), at(4, ""), at(8, Refunded)}, 3},
		{Refunded, []TimelineEvent{at(1, Delivered), at(3, RefundRequested), at(8, Refunded)}, 8},
		{RefundRequested, []TimelineEvent{at(1, Delivered), at(3, RefundRequested)}, 0},
		{FailedPayment, []TimelineEvent{at(1, PendingPayment), at(3, FailedPayment)}, 3},
		{Cancelled, nil, 9},
	} {
		if got := (Order{Status: c.status, UpdatedOn: 9}).Ended(c.timeline); got != c.want {
			t.Errorf("%s after %v ended at %d, want %d", c.status, c.timeline, got, c.want)
		}
	}
	for _, c := range []struct {
		ended, now Millis
		want       bool
	}{{0, 1 << 50, true}, {5, Millis(5).Add(TrackingKept) - 1, true}, {5, Millis(5).Add(TrackingKept), false}} {
		if MayBeTracked(c.ended, c.now) != c.want {
			t.Errorf("%+v", c)
		}
	}
}
