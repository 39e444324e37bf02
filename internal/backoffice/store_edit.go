package backoffice

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
)

// storeFields are the fields of the form of a store, named as the import file names them.
var storeFields = []fieldWord{
	{"id", "Id"}, {"name", "Name"}, {"slug", "Short name"}, {"active", "Sells at all"}, {"open", "Open now"}, {"pickup_enabled", "Customers pick up"}, {"service_delivery_enabled", "Couriers deliver"},
	{"address", "Street and number"}, {"city", "City"}, {"state", "State"}, {"zip_code", "ZIP code"}, {"lat", "Latitude"}, {"lng", "Longitude"},
	{"service_delivery_radius_miles", "Delivery radius in miles"}, {"email", "E-mail"}, {"phone", "Phone"}, {"tax_rate_bps", "Tax rate in percent"},
	{"charge_live_quote", "Charge the courier's quote"}, {"time_zone", "Time zone"}, {"late_minutes", "Minutes until late"},
	{"hold_minutes", "Minutes for which a checkout holds its goods"},
}

// storeEditPage is the data of the page "store_edit".
type storeEditPage struct {
	Form  editForm
	ID    string // empty: a new store
	Name  string
	Key   string
	Zones []string // to choose from
}

func (v *visit) newStore() error {
	form := formOf(storeFields, storeValues(commerce.Store{Active: true, Open: true, PickupEnabled: true, DeliveryEnabled: true,
		TimeZone: commerce.DefaultTimeZone, LateMinutes: commerce.DefaultLateMinutes}), 0)
	return v.page("store_edit", "New store", storeEditPage{Form: form, Key: v.NewKey(), Zones: commonZones})
}

func (v *visit) makeStore() error {
	page := storeEditPage{Form: v.posted(storeFields), Key: v.formKey(), Zones: commonZones}
	store, err := page.Form.store()
	if err == nil {
		store.ID = page.Form.Typed["id"]
		var id string
		if id, err = v.createStore(store); err == nil {
			return v.done(Prefix+"/stores/"+id, "Store "+store.Name+" is made")
		}
	}
	return v.again(page.Form.refusedAs(err, nil, 0), "store_edit", "New store", page)
}

// createStore makes a store, and returns its id.
func (v *visit) createStore(store commerce.Store) (id string, err error) {
	out, err := v.o.uses.CreateStore(v.Context(), v.caller(), store, once(v, func(s commerce.Store) (int, []byte) { return 201, []byte(s.ID) }))
	if err != nil || out.Reply.Status == 0 {
		return out.Result.ID, err
	}
	return string(out.Reply.Body), nil
}

func (v *visit) editStore(s commerce.Store) error {
	return v.page("store_edit", "Edit "+s.Name, storeEditPage{Form: formOf(storeFields, storeValues(s), s.UpdatedOn), ID: s.ID, Name: s.Name, Zones: commonZones})
}

func (v *visit) saveStore(s commerce.Store) error {
	page := storeEditPage{Form: v.posted(storeFields), ID: s.ID, Name: s.Name, Zones: commonZones}
	store, err := page.Form.store()
	if err == nil {
		store.ID = s.ID
		by := v.caller()
		by.Seen = page.Form.Seen
		if _, err = v.o.uses.UpdateStore(v.Context(), by, store); err == nil {
			return v.done(Prefix+"/stores/"+s.ID, "Store "+store.Name+" is saved")
		}
	}
	now, readErr := v.o.reads.Store(v.Context(), s.ID)
	if readErr != nil {
		return readErr
	}
	return v.again(page.Form.refusedAs(err, storeValues(now), now.UpdatedOn), "store_edit", "Edit "+s.Name, page)
}

// storeValues are the fields of a store as its form shows them.
func storeValues(s commerce.Store) map[string]string {
	return map[string]string{"id": s.ID, "name": s.Name, "slug": s.Slug, "active": onOff(s.Active), "open": onOff(s.Open), "pickup_enabled": onOff(s.PickupEnabled),
		"service_delivery_enabled": onOff(s.DeliveryEnabled), "address": s.Address, "city": s.City, "state": s.State, "zip_code": s.ZipCode,
		"lat": number(s.Lat), "lng": number(s.Lng), "service_delivery_radius_miles": number(s.RadiusMiles), "email": s.Email, "phone": s.Phone,
		"tax_rate_bps": percent(s.TaxRateBps), "charge_live_quote": onOff(s.ChargesQuote), "time_zone": s.TimeZone, "late_minutes": strconv.FormatInt(s.LateMinutes, 10),
		"hold_minutes": strconv.FormatInt(s.HoldMinutes, 10)}
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// store is the store that was typed.
func (f editForm) store() (s commerce.Store, err error) {
	text := func(name string) string { return f.Typed[name] }
	s = commerce.Store{Name: text("name"), Slug: text("slug"), Active: text("active") != "", Open: text("open") != "", PickupEnabled: text("pickup_enabled") != "",
		DeliveryEnabled: text("service_delivery_enabled") != "", Address: text("address"), City: text("city"), State: text("state"), ZipCode: text("zip_code"),
		Email: text("email"), Phone: text("phone"), ChargesQuote: text("charge_live_quote") != "", TimeZone: text("time_zone")}
	for name, to := range map[string]**float64{"lat": &s.Lat, "lng": &s.Lng, "service_delivery_radius_miles": &s.RadiusMiles} {
		if text(name) == "" {
			continue
		}
		n, failed := strconv.ParseFloat(text(name), 64)
		if failed != nil || math.IsNaN(n) {
			err = commerce.Invalid(name, "%s must be a number, like 2.5", name)
		}
		*to = &n
	}
	tax, failed := commerce.ParseScaled(strings.TrimSpace(strings.TrimSuffix(text("tax_rate_bps"), "%")), 2)
	if text("tax_rate_bps") == "" {
		tax, failed = 0, nil
	}
	if failed != nil {
		err = commerce.Invalid("tax_rate_bps", "tax_rate_bps must be a percentage with at most two decimal places, like 8.25")
	}
	late, failed := strconv.ParseInt(text("late_minutes"), 10, 64)
	if failed != nil {
		err = commerce.Invalid("late_minutes", "late_minutes must be whole minutes")
	}
	hold, failed := strconv.ParseInt(cmp.Or(text("hold_minutes"), "0"), 10, 64)
	if failed != nil {
		err = commerce.Invalid("hold_minutes", "hold_minutes must be whole minutes")
	}
	s.TaxRateBps, s.LateMinutes, s.HoldMinutes = tax, late, hold
	return s, err
}

// commonZones are offered while a time zone is typed; each other name of the IANA database works as well.
var commonZones = []string{"America/New_York", "America/Chicago", "America/Denver", "America/Phoenix", "America/Los_Angeles", "America/Anchorage", "Pacific/Honolulu",
	"America/Toronto", "America/Mexico_City", "America/Sao_Paulo", "Europe/London", "Europe/Berlin", "Europe/Paris", "Asia/Kolkata", "Asia/Tokyo", "Australia/Sydney", "UTC"}
