package commerce

import "testing"

func TestCountMail(t *testing.T) {
	const now = 20_000*dayMs + 5
	count := func(n int64, job string) MailCount {
		return MailCount{MailKey: MailsTo(OrderKey{"s", "o"}, "Ann@e.example"), Count: n, JobID: job}
	}
	partner := func(day, n int64) MailCount { return MailCount{MailKey: MailsFor("p"), Day: day, Count: n} }
	for _, c := range []struct {
		name           string
		order, partner MailCount
		reason         UnsentReason
		orders, of     int64 // counts afterwards
	}{
		{"the first", count(0, ""), partner(0, 0), "", 1, 1},
		{"the third", count(2, "job_0"), partner(20_000, 7), "", 3, 8},
		{"the fourth", count(3, "job_0"), partner(20_000, 7), UnsentTooManyOfOrder, 3, 7},
		{"another try of the third", count(3, "job_1"), partner(20_000, 500), "", 3, 500},
		{"the last of the day", count(0, ""), partner(20_000, 499), "", 1, 500},
		{"beyond the day's", count(0, ""), partner(20_000, 500), UnsentTooManyOfPartner, 0, 500},
		{"the next day", count(0, ""), partner(19_999, 500), "", 1, 1},
		{"of the merchant's own order", count(0, ""), MailCount{Day: 20_000, Count: 500}, "", 1, 501},
	} {
		order, of, reason := CountMail(c.order, c.partner, "job_1", now)
		if reason != c.reason || order.Count != c.orders || of.Count != c.of || of.Day != 20_000 && c.name != "another try of the third" {
			t.Errorf("%s: %q, %+v, %+v", c.name, reason, order, of)
		}
	}
	if MailsTo(OrderKey{"s", "o"}, "ANN@E.EXAMPLE") != MailsTo(OrderKey{"s", "o"}, "ann@e.example") {
		t.Error("another spelling is another recipient")
	}
}
