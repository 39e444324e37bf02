package backoffice

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

const evilText = `<script>alert(1)</script>"'>`

// storeForm are the fields of the form of a good store.
func storeForm(more ...string) []string {
	return append([]string{"name", "Corner " + evilText, "slug", "corner", "active", "on", "open", "on", "pickup_enabled", "on", "address", "1 Main St", "city", "Albany",
		"lat", "42.65", "lng", "-73.75", "service_delivery_radius_miles", "2.5", "tax_rate_bps", "8.25", "time_zone", "America/New_York", "late_minutes", "20", "hold_minutes", "30"}, more...)
}

// shows checks that a page has texts, and that no text of a test became a part of it.
func shows(t *testing.T, page string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "<script>alert") || strings.Contains(page, `"'>`) {
		t.Errorf("a text became a part of the page:\n%s", page)
	}
}

// TestStoreIsMadeAndChanged: an owner of all makes a store once by a double click, and a manager of
// it changes it; a page that is out of date is answered 409 with what changed and the form kept.
func TestStoreIsMadeAndChanged(t *testing.T) {
	o := openOffice(t)
	_, form := o.get("boss", "/office/stores/new")
	made := storeForm("id", "sto_new", "key", hidden(t, form, "key"))
	for range 2 {
		if status, to := o.post("boss", "/office/stores/new", made...); status != http.StatusSeeOther || to != "/office/stores/sto_new" {
			t.Fatalf("%d %s", status, to)
		}
	}
	store, err := o.Reader.Store(t.Context(), "sto_new")
	if err != nil || store.TaxRateBps != 825 || *store.RadiusMiles != 2.5 || store.DeliveryEnabled || !store.PickupEnabled || store.TimeZone != "America/New_York" || store.LateMinutes != 20 {
		t.Fatalf("%+v, %v", store, err)
	}
	if status, page := o.post("boss", "/office/stores/new", storeForm("id", "sto_new", "key", "another")...); status != http.StatusConflict {
		t.Errorf("a second one: %d\n%s", status, page)
	}
	if status, to := o.post("boss", "/office/stores/new", storeForm("key", "third")...); status != http.StatusSeeOther || !strings.HasPrefix(to, "/office/stores/"+commerce.PrefixStore) {
		t.Errorf("without an id: %d %s", status, to)
	}
	_, page := o.get("boss", "/office/stores/sto_new")
	shows(t, page, "8.25 %", "Corner &lt;script&gt;", "The store delivers 2.5 miles", "20 minutes", `href="/office/partners/ptn_1"`)

	const path = "/office/stores/" + fixture.StoreID
	_, form = o.get("manager", path+"/edit")
	shows(t, form, `name="name" value="One"`, `value="42.6526"`)
	saved := storeForm("version", hidden(t, form, "version"), "was", html.UnescapeString(hidden(t, form, "was")))
	other := append([]string{"phone", "+15185550199"}, saved...)
	if status, to := o.post("boss", path+"/edit", other...); status != http.StatusSeeOther || to != path {
		t.Fatalf("%d %s", status, to)
	}
	status, page := o.post("manager", path+"/edit", append([]string{"email", "mine@e.example"}, saved...)...)
	if status != http.StatusConflict {
		t.Fatalf("%d\n%s", status, page)
	}
	shows(t, page, "The store has changed since you opened this page", "Phone: &#43;15185550100 is now &#43;15185550199", "mine@e.example")
	again := storeForm("email", "mine@e.example", "version", hidden(t, page, "version"))
	for range 2 { // the second changes nothing
		if status, to := o.post("manager", path+"/edit", again...); status != http.StatusSeeOther || to != path {
			t.Errorf("%d %s", status, to)
		}
	}
	if store, err := o.Reader.Store(t.Context(), fixture.StoreID); err != nil || store.Email != "mine@e.example" || store.No != 1 {
		t.Errorf("%+v, %v", store, err)
	}
	entries, err := o.Reader.Audit(t.Context(), fixture.StoreID, "", 10)
	if err != nil || len(entries) != 2 || entries[0].Actor != "staff:usr_manager" || entries[1].Actor != "staff:usr_boss" {
		t.Errorf("%+v, %v", entries, err)
	}
}

// TestStoreRefusals: a form with a wrong field is refused by the rules of the import file, with the
// field marked and all that was typed.
func TestStoreRefusals(t *testing.T) {
	o := openOffice(t)
	for field, c := range map[string]struct{ value, says string }{
		"lat":                           {"north", "Latitude: must be a number"},
		"lng":                           {"181", "Longitude: must be from -180 to 180"},
		"service_delivery_radius_miles": {"-1", "Delivery radius in miles: must be from 0 to 1000"},
		"tax_rate_bps":                  {"8.255", "Tax rate in percent: must be a percentage"},
		"time_zone":                     {"Mars", "Time zone: must be the IANA name"},
		"late_minutes":                  {"241", "Minutes until late: must be from 1 to 240"},
		"hold_minutes":                  {"4", "Minutes for which a checkout holds its goods: must be from 5 to 60"},
		"name":                          {" ", "Name: is missing"},
	} {
		form := append([]string{}, storeForm("version", "0")...)
		for i := 0; i < len(form); i += 2 {
			if form[i] == field {
				form[i+1] = c.value
			}
		}
		status, page := o.post("manager", "/office/stores/"+fixture.StoreID+"/edit", form...)
		if status != http.StatusBadRequest || !strings.Contains(page, `<p class="field bad"><label for="`+field+`"`) || strings.Count(page, `class="error"`) != 1 {
			t.Errorf("%s: %d\n%s", field, status, page)
		}
		shows(t, page, c.says, "1 Main St")
	}
	if store, err := o.Reader.Store(t.Context(), fixture.StoreID); err != nil || store.Name != "One" {
		t.Errorf("%+v, %v", store, err)
	}
}

// TestStoreRights: each role does what the table of permissions says, in its own stores only.
func TestStoreRights(t *testing.T) {
	o := openOffice(t)
	o.rights(t, storeRoutes, strings.NewReplacer("{id}", fixture.StoreID))
	if _, page := o.get("manager", "/office/stores"); strings.Contains(page, "/office/stores/new") || !strings.Contains(page, ">One<") {
		t.Errorf("the list of a manager:\n%s", page)
	}
	if status, page := o.get("elsewhere", "/office/stores"); status != http.StatusOK || strings.Contains(page, ">One<") {
		t.Errorf("%d, the list of another store:\n%s", status, page)
	}
}

// rights checks routes by each role in the shop's store, and from elsewhere. Forms are empty, so
// what is allowed is refused for another reason, or changes nothing.
func (o *office) rights(t *testing.T, routes []route, paths *strings.Replacer) {
	t.Helper()
	for _, r := range routes {
		at := paths.Replace(r.path)
		ask := func(user string) (int, string) {
			if r.method == get {
				return o.get(user, at)
			}
			return o.post(user, at, "version", "1")
		}
		for _, role := range commerce.Roles {
			user := o.users[string(role)]
			status, page := ask(string(role))
			if may := user.MaySomewhere(r.may); may == (status == http.StatusForbidden) || status == http.StatusInternalServerError {
				t.Errorf("%s %s by a %s: %d\n%s", r.method, at, role, status, page)
			} else if !may && !strings.Contains(page, string(r.may)) {
				t.Errorf("%s %s by a %s does not say what is missing:\n%s", r.method, at, role, page)
			}
		}
		if status, _ := ask("nobody"); status != http.StatusSeeOther {
			t.Errorf("%s %s without a session: %d", r.method, at, status)
		}
		if status, page := ask("elsewhere"); strings.Contains(r.path, "{id}") && status != http.StatusNotFound {
			t.Errorf("%s %s from elsewhere: %d\n%s", r.method, at, status, page)
		}
	}
}

// TestManyStores: the list goes on behind its first page.
func TestManyStores(t *testing.T) {
	o := openOffice(t)
	for i := range pageRoom + 3 {
		id := "sto_9" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		if status, page := o.post("boss", "/office/stores/new", storeForm("id", id, "key", id, "active", "")...); status != http.StatusSeeOther {
			t.Fatalf("%d\n%s", status, page)
		}
	}
	_, first := o.get("boss", "/office/stores")
	_, second := o.get("boss", "/office/stores?after=sto_9bw")
	if strings.Count(first, `data-word="Store"`) != pageRoom || !strings.Contains(first, "?after=sto_9bw") || strings.Count(second, `data-word="Store"`) != 4 || strings.Contains(second, "?after=") {
		t.Errorf("%d stores, then %d", strings.Count(first, `data-word="Store"`), strings.Count(second, `data-word="Store"`))
	}
}
