package portal

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"purveyor/internal/certify"
	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
	"purveyor/internal/site/ui"
	kit "purveyor/internal/testkit/browser"
	"purveyor/internal/testkit/fixture"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const evil = `=1+1"'></script><img src=https://evil.example/x onerror=alert(1)><b>`

// dangerous matches what a text must not become: an element, a picture from elsewhere, a script
// behind a link.
var dangerous = regexp.MustCompile(`(?i)<img src=https://evil|</script><img|(?:src|srcset|action)\s*=\s*["']https?://evil|(?:href|src|action)\s*=\s*["']\s*javascript:|<script|\sstyle=|\son[a-z]+="`)

// evilShop is a shop in which every text that the partner and its endpoints give is evil.
func evilShop(t *testing.T) (*shop, map[string]string) {
	t.Helper()
	s := open(t)
	things := s.things(fixture.PartnerID)
	id := things["orders"]
	things["requests"] = s.logged(fixture.PartnerID, requestlog.Call{Method: evil, Target: "/v1/" + evil, Operation: evil, Status: 400, Code: evil, StoreID: evil, OrderID: id, Address: evil, TraceID: evil,
		RequestHeaders: http.Header{"User-Agent": {evil}, "Accept": {evil}, "Content-Type": {"application/json"}}, ResponseHeaders: http.Header{"Content-Type": {"application/json"}},
		RequestBody: requestlog.Body{Text: []byte(`{"sku":` + strconv.Quote(evil) + `}`)}, ResponseBody: requestlog.Body{Text: []byte(`{"error":` + strconv.Quote(evil) + `}`)}})
	if _, err := s.uses.MakeFault(t.Context(), service.Caller{Partner: fixture.Partner()}, commerce.Fault{Kind: commerce.FaultSlow, Operation: evil, Calls: 9, Delay: 1}, service.Once[commerce.Fault]{}); err != nil {
		t.Fatal(err)
	}
	s.certified(s.played(fixture.PartnerID, evil), 1)
	if _, err := s.uses.ChangeEndpoint(t.Context(), operator, service.ChangeEndpoint{Owner: commerce.EndpointOwner(fixture.PartnerID, things["endpoints"]), Text: new(evil)}); err != nil {
		t.Fatal(err)
	}
	fixture.Change(t, s.Engine, commerce.Needs{Lock: true, Partners: []string{fixture.PartnerID}, APIKeys: []string{things["keys"]}}, func(rows *commerce.Rows, at commerce.Millis) commerce.Changes {
		p, _ := rows.Partners.Get(fixture.PartnerID)
		p.Name = evil
		k, _ := rows.APIKeys.Get(things["keys"])
		k.Name = evil
		return commerce.Changes{Partners: []commerce.Partner{p}, APIKeys: []commerce.APIKey{k},
			Attempts: []commerce.WebhookAttempt{{PartnerID: fixture.PartnerID, EventID: things["events"], ID: "att_1", URL: "https://evil.example/?" + evil, At: at, Status: 500, Error: evil, Answer: evil}}}
	})
	return s, things
}

// paths are those of all pages of a member, and of some with a query.
func paths(things map[string]string) (list []string) {
	for _, r := range table() {
		if r.method == get {
			list = append(list, at(r, things))
		}
	}
	evilQuery := "?status=404&operation=" + url.QueryEscape(evil) + "&code=" + url.QueryEscape(evil)
	return append(list, "/portal/requests"+evilQuery, "/portal/requests?status="+url.QueryEscape(evil), "/portal/events?from="+url.QueryEscape(evil), "/portal/orders?prefix="+url.QueryEscape(evil), "/portal/enter?token="+url.QueryEscape(evil), "/portal/sandbox?order="+things["tests"], "/portal/sandbox?order="+url.QueryEscape(evil), "/portal/orders/"+things["tests"], "/portal/nothing")
}

// TestTextsStayTexts: what programs send and endpoints answer stays a text on every page.
func TestTextsStayTexts(t *testing.T) {
	s, things := evilShop(t)
	admin := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin)
	for _, path := range paths(things) {
		_, body := admin.get(path)
		if bad := dangerous.FindString(body); bad != "" {
			t.Errorf("%s has %q\n%s", path, bad, body)
		}
	}
	for _, path := range []string{Prefix, "/portal/requests", "/portal/requests/" + things["requests"], "/portal/events/" + things["events"], "/portal/endpoints", "/portal/keys", "/portal/orders/" + things["orders"], "/portal/orders/" + things["tests"], "/portal/sandbox", certifyPath} {
		if _, body := admin.get(path); !strings.Contains(body, "&lt;img src=https://evil") {
			t.Errorf("%s does not show the texts, so this test says nothing of it", path)
		}
	}
}

func size(width int) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: 800, DeviceScaleFactor: 1, Mobile: width < 600})
		return err
	})
}

func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return err
	})
}

// The queries of paths that the server of TestAccessible opens as if a form were sent to it, for a member that only reads, or after
// the certification has failed.
const (
	asPost   = "post"
	asReader = "reader"
	asOver   = "over"
)

// looked is an answer whose page does not load again while it is looked at.
type looked struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (l looked) WriteHeader(status int) {
	l.Header().Del("Refresh")
	l.ResponseWriter.WriteHeader(status)
}

// TestAccessible opens every page, with evil texts everywhere, on a phone and on a desk, light and
// dark: axe finds nothing, nothing scrolls sideways, and nothing is loaded from elsewhere.
func TestAccessible(t *testing.T) {
	s, things := evilShop(t)
	admin := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin)
	reader := s.member(fixture.PartnerID, "bo@p.example", commerce.MemberRead)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, ui.Prefix) {
			ui.Serve(w, r)
			return
		}
		if r.URL.RawQuery == asPost {
			r = httptest.NewRequest(post, "http://shop.example"+r.URL.Path, strings.NewReader("key=look&order="+things["tests"]+"&action=pay"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if r.URL.RawQuery == asOver {
			run := s.played(fixture.PartnerID, evil)
			run.State = certify.Failed
			s.certified(run, 0)
		}
		member := admin
		if r.URL.RawQuery == asReader {
			member = reader
		}
		for name, value := range member.cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		s.handler.ServeHTTP(looked{w}, r)
	}))
	t.Cleanup(server.Close)
	v := kit.Visit(t, kit.Start(t), server.URL+Prefix)
	axe := kit.NewAxe(t)
	if status, page := admin.post("/portal/settings/alarms", "alarms", "ops@p.example"); status != http.StatusSeeOther {
		t.Fatal(status, page)
	}
	again := s.logged(fixture.PartnerID, call(get, "/v1/orders/"+things["tests"], ""))
	answers := []string{"/portal/requests/" + again + "/repeat?" + asPost, "/portal/sandbox/act?" + asPost, certifyPath + "?" + asPost, "/portal/sandbox?" + asReader, "/portal/settings?" + asReader, certifyPath + "?" + asOver}
	for _, path := range append(paths(things), append(answers, "/portal/requests/"+again)...) {
		if err := chromedp.Do(v.Tab, size(1280), scheme("light"), chromedp.Navigate(server.URL+path)); err != nil {
			t.Fatal(path, err)
		}
		kit.Ask[bool](v, `document.querySelectorAll("main details").forEach(d => d.open = true), true`)
		for _, width := range []int{1280, 360} {
			for _, colours := range []string{"light", "dark"} {
				if err := chromedp.Do(v.Tab, size(width), scheme(colours)); err != nil {
					t.Fatal(path, err)
				}
				for _, bad := range axe.All(v, colours == "dark") {
					t.Errorf("%s, %d pixels, %s: %s", path, width, colours, bad)
				}
				kit.Screenshot(t, v.Tab, fmt.Sprintf("%s-%s-%d", strings.NewReplacer("/", "-", "?", "-").Replace(path[1:min(len(path), 60)]), colours, width))
			}
			if wide := kit.Ask[int](v, "document.documentElement.scrollWidth"); wide > width {
				t.Errorf("%s is %d pixels wide, the screen %d", path, wide, width)
			}
		}
	}
	for _, request := range v.Requests() {
		if !strings.HasPrefix(request, server.URL) && !strings.HasPrefix(request, "data:") {
			t.Errorf("a page loads %s", request)
		}
	}
}

// TestPagesAreTemplates makes the template of each page, which is else made at its first visit.
func TestPagesAreTemplates(t *testing.T) {
	files, err := pageFiles.ReadDir("pages")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".html")
		if shared := name == "layout" || name == "parts"; !shared && pages.Page(name).Lookup("content") == nil {
			t.Errorf("%s defines no content", f.Name())
		}
	}
}
