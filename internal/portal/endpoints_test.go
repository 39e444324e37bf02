package portal

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

// TestEndpointIsAddedOnce: a form that is sent twice adds one endpoint and shows the same secret. Another form, and the same
// one with another URL, do not pass for it; a form without its random text adds nothing.
func TestEndpointIsAddedOnce(t *testing.T) {
	s := open(t)
	admin := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin)
	endpoints := func() int {
		p, err := s.Reader.Partner(t.Context(), fixture.PartnerID)
		if err != nil {
			t.Fatal(err)
		}
		return len(p.Owners())
	}
	before := endpoints()
	add := func(key, url string) (int, string) {
		return admin.post("/portal/endpoints/new", "key", key, "url", url, "event", "*")
	}
	_, form := admin.get("/portal/endpoints/new")
	key := regexp.MustCompile(`name="key" value="(\w+)"`).FindStringSubmatch(form)[1]
	secret := regexp.MustCompile(`<pre>(whsec_[^<]+)</pre>`)
	shown := map[string]bool{}
	for range 2 {
		status, page := add(key, "https://new.example/hook")
		found := secret.FindString(page)
		if status != http.StatusOK || found == "" {
			t.Fatal(status, page)
		}
		shown[found] = true
	}
	if len(shown) != 1 || endpoints() != before+1 {
		t.Errorf("%d secrets, %d endpoints", len(shown), endpoints()-before)
	}
	if status, page := add(key, "https://else.example/hook"); status != http.StatusConflict || secret.MatchString(page) || strings.Contains(page, `value="`+key+`"`) {
		t.Errorf("%d\n%s", status, page)
	}
	if status, page := add("", "https://else.example/hook"); status != http.StatusBadRequest {
		t.Errorf("without the text: %d\n%s", status, page)
	}
	if n := endpoints(); n != before+1 {
		t.Errorf("%d endpoints", n-before)
	}
	_, form = admin.get("/portal/endpoints/new")
	if again := regexp.MustCompile(`name="key" value="(\w+)"`).FindStringSubmatch(form)[1]; again == key {
		t.Error("two forms have one key")
	}
}
