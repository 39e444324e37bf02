package e2e_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/demo"
	"purveyor/internal/storage"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/testkit/check"
)

var (
	demoLink     = regexp.MustCompile(`sign in once with (http://\S+)\n`)
	demoDatabase = regexp.MustCompile(`--database sqlite:(\S+) `)
	officeLink   = regexp.MustCompile(`href="(/office[^"#?]*)"`)
	emptyPart    = regexp.MustCompile(`<p class="empty">[^<]*`)
)

// demoOffice is a running demo and its database.
type demoOffice struct {
	*process
	base, link string
	stored     *sqlite.Engine
	kiosk      commerce.Partner
}

func startDemo(t *testing.T, args ...string) *demoOffice {
	t.Helper()
	d := &demoOffice{process: start(t, []string{"TMPDIR=" + t.TempDir()}, append([]string{"demo", "--listen", "127.0.0.1:0"}, args...)...)}
	d.base = d.ready(&d.stdout, demoLine)
	check.Eventually(t, patience, pollPause, "the whole welcome", func() bool { return strings.Contains(d.stdout.String(), "Ctrl-C") })
	d.link = demoLink.FindStringSubmatch(d.stdout.String())[1]
	var err error
	d.stored, err = sqlite.Open(demoDatabase.FindStringSubmatch(d.stdout.String())[1], sqlite.Options{Access: storage.Access{Existing: true}})
	check.OK(t, err)
	t.Cleanup(func() { check.OK(t, d.stored.Close()) })
	partners, err := d.stored.Reader().Partners(t.Context())
	check.OK(t, err)
	for _, p := range partners {
		if p.Name == "Corner Kiosk" {
			d.kiosk = p
		}
	}
	return d
}

// orders are the test orders of the demo.
func (d *demoOffice) orders() (list []commerce.Order) {
	d.t.Helper()
	r := d.stored.Reader()
	changes, err := r.ChangedOrders(d.t.Context(), d.kiosk.ID, commerce.Test, 0, 1000)
	check.OK(d.t, err)
	met := map[string]bool{}
	for _, c := range changes {
		if met[c.ID] { // it was made, and has changed
			continue
		}
		met[c.ID] = true
		no, _ := commerce.StoreNoOfOrder(c.ID)
		store, err := r.StoreByNo(d.t.Context(), no)
		check.OK(d.t, err)
		o, err := r.Order(d.t.Context(), commerce.OrderKey{StoreID: store.ID, OrderID: c.ID})
		check.OK(d.t, err)
		list = append(list, o)
	}
	return list
}

// order is a test order of the demo.
func (d *demoOffice) order(is func(commerce.Order) bool) (commerce.Order, bool) {
	d.t.Helper()
	orders := d.orders()
	if i := slices.IndexFunc(orders, is); i >= 0 {
		return orders[i], true
	}
	return commerce.Order{}, false
}

// filled waits until the demo has made everything, and every status is there at once.
func (d *demoOffice) filled(limit time.Duration) {
	d.t.Helper()
	check.Eventually(d.t, limit, 20*pollPause, "40 orders in every status, and sums", func() bool {
		statuses, orders := map[commerce.OrderStatus]bool{}, d.orders()
		for _, o := range orders {
			statuses[o.Status] = true
		}
		made, err := d.stored.Reader().SumPosition(d.t.Context(), commerce.SumRun)
		return len(orders) == 40 && len(statuses) == len(commerce.Statuses) && err == nil && made.At != 0
	})
}

// The office of the demo has something on every page.
func TestDemoOffice(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--sandbox-step", "20ms")
	d.filled(patience)
	ctx, r := t.Context(), d.stored.Reader()
	flags, err := r.AttentionCounts(ctx, nil, 100)
	check.OK(t, err)
	codes := map[commerce.AttentionCode]int64{}
	for _, f := range flags {
		codes[f.Code] = f.Count
	}
	if want := (map[commerce.AttentionCode]int64{commerce.AttentionNotDispatched: 1, commerce.AttentionRefundRequested: 1}); !maps.Equal(codes, want) {
		t.Errorf("attention %v, want %v", codes, want)
	}
	check.Eventually(t, patience, pollPause, "an endpoint that fails", func() bool {
		endpoints, err := r.Endpoints(ctx, []string{d.kiosk.ID})
		return err == nil && endpoints[d.kiosk.ID].Failing()
	})
	d.hasStock()
	d.hasPages()
}

// hasStock checks that the stock is that of the catalog.
func (d *demoOffice) hasStock() {
	d.t.Helper()
	data, err := demo.Catalog(d.base)
	check.OK(d.t, err)
	var catalog struct {
		Products []struct {
			ID       string `json:"id"`
			Quantity int64  `json:"available_quantity"`
		} `json:"products"`
	}
	check.OK(d.t, json.Unmarshal(data, &catalog))
	ids := make([]string, len(catalog.Products))
	for i, p := range catalog.Products {
		ids[i] = p.ID
	}
	stock, err := d.stored.Reader().Stock(d.t.Context(), ids)
	check.OK(d.t, err)
	for _, p := range catalog.Products {
		if s := stock[p.ID]; s.Quantity != p.Quantity {
			d.t.Errorf("%s: stock %d, in the catalog %d", p.ID, s.Quantity, p.Quantity)
		}
	}
}

// mayBeEmpty is how many parts of a page may be empty: the board has a text for each column,
// which is hidden while there are cards, and live orders have no couriers in the demo.
var mayBeEmpty = map[string]int{"/office/board": 4, "/office/reports": 1}

// hasPages signs in by the link that is printed, and looks at every page of the menu.
func (d *demoOffice) hasPages() {
	d.t.Helper()
	jar, err := cookiejar.New(nil)
	check.OK(d.t, err)
	person := &http.Client{Jar: jar}
	address, token, _ := strings.Cut(d.link, "?token=")
	answer, err := person.PostForm(address, url.Values{"token": {token}})
	check.OK(d.t, err)
	if first := text(d.t, answer); answer.StatusCode != http.StatusOK || emptyPart.MatchString(first) {
		d.t.Errorf("the first page is empty: status %d, %q", answer.StatusCode, emptyPart.FindAllString(first, -1))
	}
	answer, err = person.Get(d.base + "/office/me") // it has no links but those of the menu
	check.OK(d.t, err)
	seen := map[string]bool{}
	for _, link := range officeLink.FindAllStringSubmatch(text(d.t, answer), -1) {
		path := link[1]
		if seen[path] || strings.HasPrefix(path, "/office/static/") || strings.HasPrefix(path, "/office/me") {
			continue
		}
		seen[path] = true
		answer, err := person.Get(d.base + path)
		check.OK(d.t, err)
		page := text(d.t, answer)
		if answer.StatusCode != http.StatusOK {
			d.t.Errorf("%s: status %d", path, answer.StatusCode)
		}
		if empty := emptyPart.FindAllString(page, -1); len(empty) > mayBeEmpty[path] {
			d.t.Errorf("%s is empty: %q", path, empty)
		}
	}
	if len(seen) < 8 {
		d.t.Errorf("the menu has %v", slices.Sorted(maps.Keys(seen)))
	}
}

// text is the body of an answer.
func text(t *testing.T, answer *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	check.OK(t, errors.Join(err, answer.Body.Close()))
	return string(body)
}
