package e2e_test

import (
	"strings"
	"testing"
)

// The audit shows the newest act first, with both sides and without secrets.
func TestAuditList(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if text := s.operate("audit", "list", "--target", "nothing").ok(t); text != "no entries\n" {
		t.Errorf("of nothing: %q", text)
	}
	first, second := s.newPartner("--name", "First"), s.newPartner("--name", "Second")
	s.operate("partner", "update", first.PartnerID, "--name", "Renamed").ok(t)
	s.operate("partner", "suspend", second.PartnerID).ok(t)

	all := s.operate("audit", "list").ok(t)
	suspended, renamed := strings.Index(all, second.PartnerID), strings.Index(all, `"name":"Renamed"`)
	if suspended < 0 || renamed < suspended {
		t.Errorf("the newest act is not first:\n%s", all)
	}
	for _, secret := range []string{first.Keys.Live, first.Keys.Test, second.Keys.Live} {
		if strings.Contains(all, secret) {
			t.Errorf("it shows a key:\n%s", all)
		}
	}

	about := s.operate("audit", "list", "--target", first.PartnerID).ok(t)
	if strings.Contains(about, second.PartnerID) || !strings.Contains(about, `"name":"First"`) || !strings.Contains(about, "operator:") || strings.Count(about, "trace") != 2 {
		t.Errorf("of the first partner:\n%s", about)
	}
	newest := s.operate("audit", "list", "--target", first.PartnerID, "--limit", "1").ok(t)
	if !strings.HasPrefix(about, newest) || newest == about {
		t.Errorf("with a limit:\n%s", newest)
	}
	id, _, _ := strings.Cut(newest, " ")
	if older := s.operate("audit", "list", "--target", first.PartnerID, "--before", id).ok(t); newest+older != about {
		t.Errorf("before %s:\n%s", id, older)
	}
}
