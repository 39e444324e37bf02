package portal

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

// TestAlarmAddresses: an admin sets them, what is refused stays typed and changes nothing, and others read them.
func TestAlarmAddresses(t *testing.T) {
	s := open(t)
	admin, reader := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin), s.member(fixture.PartnerID, "bo@p.example", commerce.MemberRead)
	stored := func(want ...string) {
		t.Helper()
		p, err := s.Reader.Partner(t.Context(), fixture.PartnerID)
		if err != nil || !slices.Equal(p.AlarmAddresses, want) {
			t.Errorf("%v, %v; want %v", p.AlarmAddresses, err, want)
		}
	}
	if status, to := admin.post("/portal/settings/alarms", "alarms", " ops@p.example\r\nnight@p.example, ops@p.example \r\n"); status != http.StatusSeeOther || to != settingsPath {
		t.Fatal(status, to)
	}
	stored("ops@p.example", "night@p.example")
	for _, bad := range []string{"nothing", "a@p.example\n" + evil, "a@b\nb@b\nc@b\nd@b\ne@b\nf@b"} {
		status, page := admin.post("/portal/settings/alarms", "alarms", bad)
		if status != http.StatusBadRequest || !strings.Contains(page, "Nothing was changed") || dangerous.MatchString(page) {
			t.Errorf("%q: %d\n%s", bad, status, page)
		}
	}
	stored("ops@p.example", "night@p.example")
	_, page := reader.get(settingsPath)
	shows(t, page, "<li>ops@p.example</li><li>night@p.example</li>")
	if status, _ := admin.post("/portal/settings/alarms", "alarms", ""); status != http.StatusSeeOther {
		t.Error(status)
	}
	stored()
	if other, err := s.Reader.Partner(t.Context(), s.other.ID); err != nil || len(other.AlarmAddresses) > 0 {
		t.Errorf("%+v, %v", other, err)
	}
}
