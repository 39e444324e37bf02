package commerce

import (
	"encoding/binary"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestIDsHoldAllEntropy: ids that differ in one bit of what was drawn, or in the time, differ.
func TestIDsHoldAllEntropy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e Entropy
		binary.BigEndian.PutUint64(e[:8], rapid.Uint64().Draw(t, "entropy"))
		at := Millis(rapid.Int64Range(0, 1<<47).Draw(t, "at"))
		id, flipped := NewID(PrefixEvent, at, e), e
		bit := rapid.IntRange(0, 8*len(e)-1).Draw(t, "bit")
		flipped[bit/8] ^= 1 << (bit % 8)
		if NewID(PrefixEvent, at, flipped) == id || NewID(PrefixEvent, at+1, e) <= id {
			t.Fatalf("%s is not alone", id)
		}
		if !IsID(PrefixEvent, id) || TimeOfEvent(id) != at {
			t.Fatalf("%s is of %d, and %d was given", id, TimeOfEvent(id), at)
		}
	})
}

// TestIDsOfNothing: what has not the form of an id names nothing and has no time.
func TestIDsOfNothing(t *testing.T) {
	order := NewOrderID(12, 77, Entropy{1})
	body := order[len(order)-idBodyLen:]
	for _, id := range []string{"", PrefixOrder, PrefixOrder + body, PrefixOrder + "_" + body, PrefixOrder + "0c_" + body, PrefixOrder + "00_" + body,
		PrefixOrder + "c_" + body[1:], PrefixOrder + "c_" + body + "0", PrefixOrder + "c_u" + body[1:], PrefixOrder + "u_" + body, PrefixOrder + "12345678_" + body, "x" + order} {
		if no, ok := StoreNoOfOrder(id); ok || no != 0 || TimeOfOrder(id) != 0 {
			t.Errorf("%q is order of store %d, %v, at %d", id, no, ok, TimeOfOrder(id))
		}
	}
	for _, no := range []int64{0, 1, 31, 32, 1<<35 - 1} {
		if got, ok := StoreNoOfOrder(NewOrderID(no, 77, Entropy{1})); got != no || !ok {
			t.Errorf("store %d: %d, %v", no, got, ok)
		}
	}
	for _, id := range []string{"", PrefixEvent, PrefixJob + body, body, PrefixEvent + body[1:], PrefixEvent + body + "0", PrefixEvent + "u" + body[1:], PrefixEvent + "\x00" + body[1:]} {
		if IsID(PrefixEvent, id) || TimeOfEvent(id) != 0 {
			t.Errorf("%q is an event's id, of %d", id, TimeOfEvent(id))
		}
	}
}

// TestDeliveryRefs: a ref gives back what it was made of, and no other text is a ref.
func TestDeliveryRefs(t *testing.T) {
	order := NewOrderID(7, 1_800_000_000_000, Entropy{1, 2, 3})
	for _, attempt := range []int64{1, 4, 10, 25, 1 << 40} {
		ref := DeliveryRef(order, attempt)
		if id, n, ok := ParseDeliveryRef(ref); !ok || id != order || n != attempt {
			t.Errorf("%s: %s, %d, %v", ref, id, n, ok)
		}
	}
	if ref := DeliveryRef(order, 12); !strings.HasSuffix(ref, "_12") {
		t.Errorf("attempt 12 is named %s", ref)
	}
	ref := DeliveryRef(order, 1)
	for _, text := range []string{"", "_", "dlv_", "dlv_1", "dlv__1", "dlv_x_1", strings.TrimPrefix(ref, PrefixDelivery), ref[:len(ref)-1], ref[:len(ref)-2],
		ref + "x", ref[:len(ref)-1] + "+1", ref[:len(ref)-1] + "01", ref[:len(ref)-1] + "99999999999999999999", ref[:len(ref)-1] + "0x1", "x" + ref, strings.ToUpper(ref)} {
		if id, n, ok := ParseDeliveryRef(text); ok || n != 0 && !strings.Contains(id, "_") {
			t.Errorf("%q is attempt %d of %q", text, n, id)
		}
	}
}

// TestKeysOfCounts: each count of mails and alarms is one of its own.
func TestKeysOfCounts(t *testing.T) {
	order := OrderKey{StoreID: "s1", OrderID: "o1"}
	keys := map[MailKey]bool{}
	for _, k := range []MailKey{AlarmsFor("p1"), AlarmsFor("p2"), MailsFor("p1"), MailsFor("p2"), MailsTo(order, "a@x"), MailsTo(order, "b@x"),
		MailsTo(OrderKey{StoreID: "s1", OrderID: "o2"}, "a@x"), MailsTo(OrderKey{StoreID: "s2", OrderID: "o1"}, "a@x")} {
		if keys[k] || k.Owner == "" || k.Name == "" {
			t.Errorf("%+v is there twice, or not whole", k)
		}
		keys[k] = true
	}
	if MailsTo(order, "A@x") != MailsTo(order, "a@X") {
		t.Error("a recipient in capitals is another one")
	}
	if (Job{Slot: 3, ID: "job_1"}).Key() != (JobKey{3, "job_1"}) {
		t.Error("a job's key is its slot and its id")
	}
}

// TestMailsCountOnce: all attempts of one job count as one mail. Mails without a job count each time.
func TestMailsCountOnce(t *testing.T) {
	order, partner, reason := CountMail(MailCount{}, MailCount{}, "job_1", 1)
	if again, _, _ := CountMail(order, partner, "job_1", 2); order.Count != 1 || again != order || reason != "" {
		t.Errorf("%+v, then %+v, %q", order, again, reason)
	}
	if unnamed, _, _ := CountMail(MailCount{}, MailCount{}, "", 1); unnamed.Count != 1 {
		t.Errorf("a mail without a job is not counted: %+v", unnamed)
	}
}

// TestTrackingPagesNeedASecret: without a secret, or an order, there is no page.
func TestTrackingPagesNeedASecret(t *testing.T) {
	order := NewOrderID(1, 5, Entropy{9})
	pages := TrackingPages{URL: "https://x", Secret: []byte{1}}
	if pages.PageOf("") != "" || (TrackingPages{URL: "https://x"}).PageOf(order) != "" {
		t.Error("a page of no order, or without a secret")
	}
	token := strings.TrimPrefix(pages.PageOf(order), "https://x"+TrackingPrefix)
	if id, ok := pages.OrderOf(token); id != order || !ok {
		t.Errorf("%q, %v", id, ok)
	}
	open := TrackingPages{URL: "https://x"}
	if id, ok := open.OrderOf(open.token(order)); ok || id != "" {
		t.Errorf("without a secret, %q is open to everyone", id)
	}
	if _, ok := pages.OrderOf(pages.token("ord_x")); ok {
		t.Error("a token of a text that is no order leads somewhere")
	}
}

func TestPhones(t *testing.T) {
	for phone, want := range map[string]string{
		"+12345678": "+12345678", "+1234567": "", "+123456789012345": "+123456789012345", "+1234567890123456": "", "+0123456789": "", "+01234567890": "",
		"212-555-0147": "+12125550147", "112-555-0147": "", "1 (212) 555.0147": "+12125550147", "2 (212) 555.0147": "", "": "", "+": "", "2125550147x": "", "12345678": "",
	} {
		if got, ok := E164(phone); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", phone, got, ok, want)
		}
	}
	for phone, want := range map[string]string{"+49 (0)9-8a/:;B": "phone:+49098", "abc": "", "0123456789": "phone:0123456789"} {
		if got := PhoneContact(phone); got != want {
			t.Errorf("%q: %q, want %q", phone, got, want)
		}
	}
}
