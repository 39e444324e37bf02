package importfile

import (
	"strings"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
)

// CheckStore refuses what a store cannot have, wherever the values come from. The error names
// the field as the file does.
func CheckStore(s command.ImportStore) error {
	var c jsonin.Check
	checkStore(&c, s)
	return c.Err
}

func checkStore(c *jsonin.Check, s command.ImportStore) {
	c.ID("id", &s.ID)
	c.Required("name", &s.Name, jsonin.MaxName)
	c.Optional("slug", s.Slug, jsonin.MaxName)
	c.Optional("address", s.Address, jsonin.MaxName)
	c.Optional("city", s.City, jsonin.MaxName)
	c.Optional("state", s.State, jsonin.MaxName)
	c.Optional("zip_code", s.ZipCode, jsonin.MaxName)
	c.Optional("email", s.Email, jsonin.MaxName)
	c.Optional("phone", s.Phone, jsonin.MaxName)
	if (s.Lat == nil) != (s.Lng == nil) {
		c.Fail("lat", "must come together with lng")
	}
	within(c, "lat", s.Lat, -90, 90)
	within(c, "lng", s.Lng, -180, 180)
	within(c, "service_delivery_radius_miles", s.RadiusMiles, 0, 1000)
	c.OptBetween("tax_rate_bps", (*jsonin.Int)(s.TaxRateBps), 0, 10_000)
	timeZone(c, s.TimeZone)
	c.OptBetween("late_minutes", (*jsonin.Int)(s.LateMinutes), 1, commerce.MaxLateMinutes)
	if s.HoldMinutes != nil && *s.HoldMinutes != 0 {
		c.OptBetween("hold_minutes", (*jsonin.Int)(s.HoldMinutes), commerce.MinHoldMinutes, commerce.MaxHoldMinutes)
	}
}

// within refuses numbers outside of a range, and what is no number.
func within(c *jsonin.Check, field string, v *float64, least, most float64) {
	if v != nil && !(*v >= least && *v <= most) {
		c.Fail(field, "must be from %g to %g", least, most)
	}
}

// timeZone takes the names of the IANA database. "Local" is the zone of the machine, so it means
// something else on each.
func timeZone(c *jsonin.Check, name *string) {
	if name == nil {
		return
	}
	_, err := time.LoadLocation(*name)
	if err != nil || *name == "" || strings.EqualFold(*name, "local") {
		c.Fail("time_zone", "must be the IANA name of a time zone, like America/New_York or UTC")
	}
}
