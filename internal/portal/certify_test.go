package portal

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"purveyor/internal/certify"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/fixture"

	"github.com/go-json-experiment/json"
)

// certified stores a run as the newest of a partner.
func (s *shop) certified(run certify.Run, since commerce.Millis) {
	s.t.Helper()
	text, err := json.Marshal(run)
	if err != nil {
		s.t.Fatal(err)
	}
	row := commerce.Certification{PartnerID: run.PartnerID, RunID: run.ID, Running: !run.Over(), Run: string(text), EndsOn: run.EndsOn, Version: 1, CertifiedOn: since}
	fixture.Change(s.t, s.Engine, commerce.Needs{Lock: true, Certified: []string{run.PartnerID}}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{Certified: []commerce.Certification{row}}
	})
}

// played is a run of which one check has failed, one was left out and one has passed, with a task that waits.
func (s *shop) played(partnerID, text string) certify.Run {
	run := certify.New("run_of_"+partnerID, partnerID, nil, certify.Goods{}, commerce.EndpointOwner(partnerID, ""), "https://hook.example/"+text, commerce.MillisOf(time.Now()))
	run.Tasks = []certify.Task{{ID: "t1", Do: "report", Order: text, Text: "Report " + text, Body: &certify.Body{ExternalOrderID: text}}, {ID: "t2", Do: "cancel", Text: "Cancel it"}}
	run.Checks[0].State, run.Checks[0].Message, run.Checks[0].TraceIDs = certify.CheckFailed, "No key on "+text, []string{partnerID + "-trace"}
	run.Checks[1].State, run.Checks[1].Message = certify.CheckSkipped, "No store delivers"
	run.Checks[2].State = certify.CheckPassed
	return run
}

// TestCertify: an admin begins a run, once for a form, and one at a time; each member sees it. An endpoint of another
// partner, and a group that there is not, are refused.
func TestCertify(t *testing.T) {
	s := open(t)
	own, foreign := s.things(fixture.PartnerID), s.things(s.other.ID)
	admin, reader := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin), s.member(fixture.PartnerID, "bo@p.example", commerce.MemberRead)
	for _, b := range []*browser{admin, reader} {
		_, page := b.get(certifyPath)
		shows(t, page, "Not certified", "No run yet")
		if forms := strings.Contains(page, `action="/portal/certify"`); forms != (b == admin) {
			t.Errorf("forms: %v\n%s", forms, page)
		}
	}
	for key, bad := range map[string][]string{"a": {"endpoint", foreign["endpoints"]}, "b": {"group", "none"}, "c": {"endpoint", own["endpoints"], "group", "calls", "group", "none"}} {
		if status, page := admin.post(certifyPath, append(bad, "key", key)...); status != http.StatusBadRequest && status != http.StatusNotFound {
			t.Errorf("%v: %d\n%s", bad, status, page)
		} else {
			shows(t, page, "Nothing was changed", "No run yet")
		}
	}
	for range 2 {
		if status, to := admin.post(certifyPath, "key", "one", "endpoint", own["endpoints"], "group", "calls", "group", "repair"); status != http.StatusSeeOther || to != certifyPath {
			t.Fatal(status, to)
		}
	}
	status, page := admin.post(certifyPath, "key", "two")
	if status != http.StatusConflict {
		t.Errorf("a second run: %d", status)
	}
	shows(t, page, "there is one at a time")
	run, _, err := s.uses.FindCertification(t.Context(), fixture.PartnerID)
	if err != nil || len(run.Groups) != 2 || run.WebhookURL != "https://hook.example/"+fixture.PartnerID {
		t.Fatalf("%+v, %v", run, err)
	}
	for _, b := range []*browser{admin, reader} {
		_, page := b.get(certifyPath)
		shows(t, page, run.ID, "This run goes on", "0 of 12 checks passed", "<h2>Calls</h2>", "<h2>Repair</h2>", "Pending")
		if strings.Contains(page, "<form method=\"post\" action=\"/portal/certify\"") || strings.Contains(page, "<h2>Manners</h2>") {
			t.Error(page)
		}
	}
	if _, _, err := s.uses.FindCertification(t.Context(), s.other.ID); err != storage.ErrNotFound {
		t.Error(err)
	}
}

// TestCertifyShows: the page has the tasks that wait, and each check with what it wants, why it failed and the requests that show
// it. It loads again while a run goes on, unless it is told not to. Nothing of another partner's run is there.
func TestCertifyShows(t *testing.T) {
	s := open(t)
	reader := s.member(fixture.PartnerID, "bo@p.example", commerce.MemberRead)
	run := s.played(fixture.PartnerID, "CERT-1")
	s.certified(run, 0)
	s.certified(s.played(s.other.ID, "CERT-2"), 1)
	look := func(path string) (page, again string) {
		r := httptest.NewRequest(get, "http://shop.example"+path, nil)
		for name, value := range reader.cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		return w.Body.String(), w.Header().Get("Refresh")
	}
	page, again := look(certifyPath)
	shows(t, page, "This run goes on", "1 of 30 checks passed", "Report CERT-1", "&#34;external_order_id&#34;: &#34;CERT-1&#34;", "Cancel it", "<small>No key on CERT-1</small>", `href="/portal/requests?trace_id=`+fixture.PartnerID+`-trace"`,
		"No store delivers", "Skipped", certify.Title(run.Checks[0].ID), certify.Title(run.Checks[29].ID), "Not certified")
	if again != reloadPause || strings.Contains(page, s.other.ID) || strings.Contains(page, "CERT-2") {
		t.Errorf("Refresh: %q\n%s", again, page)
	}
	if page, again := look(certifyPath + "?still=1"); again != "" || !strings.Contains(page, "This run goes on") {
		t.Errorf("Refresh: %q\n%s", again, page)
	}
	run.State = certify.Passed
	s.certified(run, commerce.Millis(1772463845250))
	page, again = look(certifyPath)
	shows(t, page, "The last run", "Passed", "since <time", "2 Mar 2026")
	if again != "" || strings.Contains(page, "Tasks that wait") {
		t.Errorf("Refresh: %q\n%s", again, page)
	}
}
