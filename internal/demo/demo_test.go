package demo

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const testBase = "https://shop.example.com"

type catalog struct {
	Categories []category `json:"categories"`
	Stores     []store    `json:"stores"`
	Products   []product  `json:"products"`
}

type category struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

type store struct {
	ID              string  `json:"id"`
	Name            string  `json:"name"`
	Slug            string  `json:"slug"`
	City            string  `json:"city"`
	State           string  `json:"state"`
	ZipCode         string  `json:"zip_code"`
	Address         string  `json:"address"`
	Active          bool    `json:"active"`
	Open            bool    `json:"open"`
	PickupEnabled   bool    `json:"pickup_enabled"`
	DeliveryEnabled bool    `json:"service_delivery_enabled"`
	Lat             float64 `json:"lat"`
	Lng             float64 `json:"lng"`
	RadiusMiles     float64 `json:"service_delivery_radius_miles"`
	Email           string  `json:"email"`
	Phone           string  `json:"phone"`
	TaxRateBps      int     `json:"tax_rate_bps"`
	TimeZone        string  `json:"time_zone"`
}

type product struct {
	ID                string   `json:"id"`
	Name              string   `json:"name"`
	Description       string   `json:"description"`
	StoreID           string   `json:"store_id"`
	CategoryID        string   `json:"category_id"`
	Price             int64    `json:"price"`
	SKU               string   `json:"sku"`
	Active            bool     `json:"active"`
	AvailableQuantity int      `json:"available_quantity"`
	FeaturedImage     string   `json:"featured_image"`
	Images            []string `json:"images"`
}

func load(t *testing.T) catalog {
	t.Helper()
	data, err := Catalog(testBase)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var c catalog
	if err := dec.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSize(t *testing.T) {
	c := load(t)
	cities := map[string]bool{}
	for _, s := range c.Stores {
		cities[s.City] = true
	}
	if len(c.Stores) < 6 || len(cities) != 3 || len(c.Categories) != 8 || len(c.Products) != 300 {
		t.Errorf("%d stores, %d cities, %d categories, %d products",
			len(c.Stores), len(cities), len(c.Categories), len(c.Products))
	}
}

func TestIDsAreUnique(t *testing.T) {
	c := load(t)
	seen := map[string]bool{}
	check := func(id, prefix string) {
		if !strings.HasPrefix(id, prefix) {
			t.Errorf("id %q does not begin with %q", id, prefix)
		}
		if seen[id] {
			t.Errorf("id %q is used twice", id)
		}
		seen[id] = true
	}
	for _, v := range c.Categories {
		check(v.ID, "cat_")
	}
	for _, v := range c.Stores {
		check(v.ID, "sto_")
	}
	for _, v := range c.Products {
		check(v.ID, "prd_")
	}
}

// place is what the stores of a city have to agree with.
type place struct {
	state, zip, area string
	lat, lng         float64
	taxRateBps       int
	timeZone         string
}

var places = map[string]place{
	"New York": {"NY", "100", "+1212", 40.7128, -74.0060, 888, "America/New_York"},
	"Austin":   {"TX", "787", "+1512", 30.2672, -97.7431, 825, "America/Chicago"},
	"Oakland":  {"CA", "946", "+1510", 37.8044, -122.2712, 1075, "America/Los_Angeles"},
}

func TestStores(t *testing.T) {
	phone := regexp.MustCompile(`^\+1\d{3}55501\d\d$`)
	slugs := map[string]bool{}
	pickupOnly := 0
	for _, s := range load(t).Stores {
		p, ok := places[s.City]
		if !ok {
			t.Errorf("%s: unexpected city %q", s.ID, s.City)
			continue
		}
		if s.Name == "" || s.Address == "" || s.Slug == "" || slugs[s.Slug] {
			t.Errorf("%s: name %q, address %q, slug %q", s.ID, s.Name, s.Address, s.Slug)
		}
		slugs[s.Slug] = true
		if s.State != p.state || len(s.ZipCode) != 5 || !strings.HasPrefix(s.ZipCode, p.zip) {
			t.Errorf("%s: state %q, ZIP %q in %s", s.ID, s.State, s.ZipCode, s.City)
		}
		if d := miles(s.Lat, s.Lng, p.lat, p.lng); d > 30 {
			t.Errorf("%s: %.0f miles from %s", s.ID, d, s.City)
		}
		if !phone.MatchString(s.Phone) || !strings.HasPrefix(s.Phone, p.area) {
			t.Errorf("%s: phone %q", s.ID, s.Phone)
		}
		if !strings.HasSuffix(s.Email, "@example.com") {
			t.Errorf("%s: e-mail %q", s.ID, s.Email)
		}
		if s.TaxRateBps != p.taxRateBps || s.RadiusMiles <= 0 || s.TimeZone != p.timeZone {
			t.Errorf("%s: tax %d, radius %v, time zone %s", s.ID, s.TaxRateBps, s.RadiusMiles, s.TimeZone)
		}
		if !s.Active || !s.Open || !s.PickupEnabled {
			t.Errorf("%s: must be active, open and offer pickup", s.ID)
		}
		if !s.DeliveryEnabled {
			pickupOnly++
			if s.City != "Austin" {
				t.Errorf("%s: the pickup-only store must be in Austin", s.ID)
			}
		}
	}
	if pickupOnly != 1 {
		t.Errorf("%d stores without delivery, want 1", pickupOnly)
	}
}

func TestProducts(t *testing.T) {
	c := load(t)
	skus := map[string]bool{}
	for _, p := range c.Products {
		if !slices.ContainsFunc(c.Stores, func(s store) bool { return s.ID == p.StoreID }) {
			t.Errorf("%s: no store %q", p.ID, p.StoreID)
		}
		if !slices.ContainsFunc(c.Categories, func(k category) bool { return k.ID == p.CategoryID && k.Active }) {
			t.Errorf("%s: no active category %q", p.ID, p.CategoryID)
		}
		if p.Name == "" || p.Price <= 0 {
			t.Errorf("%s: name %q, price %d", p.ID, p.Name, p.Price)
		}
		if p.SKU == "" || skus[p.SKU] {
			t.Errorf("%s: sku %q is empty or used twice", p.ID, p.SKU)
		}
		skus[p.SKU] = true
		if q := p.AvailableQuantity; q != 0 && (q < 5 || q > 400) {
			t.Errorf("%s: stock %d", p.ID, q)
		}
	}
}

func TestEveryStoreIsStocked(t *testing.T) {
	c := load(t)
	for _, s := range c.Stores {
		var total, soldOut, inactive int
		perCategory := map[string]int{}
		for _, p := range c.Products {
			if p.StoreID != s.ID {
				continue
			}
			total++
			perCategory[p.CategoryID]++
			if p.AvailableQuantity == 0 {
				soldOut++
			}
			if !p.Active {
				inactive++
			}
		}
		if total != 50 || soldOut != 1 || inactive != 1 || len(perCategory) != len(c.Categories) {
			t.Errorf("%s: %d products, %d sold out, %d inactive, %d categories",
				s.ID, total, soldOut, inactive, len(perCategory))
		}
	}
}

// Stores sell the same products, so a description belongs to a product's name.
// Different products must not share one, nor differ by a word or two only.
func TestDescriptionsAreDistinct(t *testing.T) {
	byName := map[string]string{}
	for _, p := range load(t).Products {
		if len(p.Description) < 40 {
			t.Errorf("%s: description %q", p.ID, p.Description)
		}
		if d, ok := byName[p.Name]; ok && d != p.Description {
			t.Errorf("%s: another store describes %q differently", p.ID, p.Name)
		}
		byName[p.Name] = p.Description
	}
	if len(byName) < 50 {
		t.Errorf("%d different products, want at least 50", len(byName))
	}
	for a, da := range byName {
		for b, db := range byName {
			if a < b && sharedWords(da, db) > 0.5 {
				t.Errorf("%q and %q read alike", a, b)
			}
		}
	}
}

func TestImages(t *testing.T) {
	used := map[string]bool{}
	second := 0
	for _, p := range load(t).Products {
		if len(p.Images) == 0 || p.Images[0] != p.FeaturedImage {
			t.Errorf("%s: images %q must begin with the featured one", p.ID, p.Images)
		}
		if len(p.Images) > 1 {
			second++
		}
		for _, image := range p.Images {
			used[image] = true
		}
	}
	if second == 0 {
		t.Error("no product has a second image")
	}
	for image := range used {
		path, ok := strings.CutPrefix(image, testBase)
		if !ok {
			t.Errorf("image %q is not below the base URL", image)
			continue
		}
		checkImage(t, path)
	}
	files, err := fs.Glob(imageFiles, "images/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(used) {
		t.Errorf("%d image files, %d of them used", len(files), len(used))
	}
}

func checkImage(t *testing.T, path string) {
	t.Helper()
	res := get(t, http.MethodGet, path)
	if res.StatusCode != http.StatusOK {
		t.Errorf("%s: status %d", path, res.StatusCode)
		return
	}
	for name, want := range map[string]string{
		"Content-Type":            "image/svg+xml",
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
		"X-Content-Type-Options":  "nosniff",
		"Cache-Control":           "public, max-age=3600",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %s %q, want %q", path, name, got, want)
		}
	}
	if err := checkSVG(res.Body); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

// checkSVG checks that a drawing is well-formed, titled, 400 by 400, and without
// scripts or links.
func checkSVG(r io.Reader) error {
	dec := xml.NewDecoder(r)
	var titled, sized bool
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "title":
			titled = true
		case "script", "foreignObject", "image", "use", "a":
			return errors.New("has a <" + start.Name.Local + "> element")
		}
		for _, a := range start.Attr {
			if a.Name.Local == "viewBox" && a.Value == "0 0 400 400" {
				sized = true
			}
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
				return errors.New("has the attribute " + a.Name.Local)
			}
			if strings.Contains(a.Value, "url(") && !strings.HasPrefix(a.Value, "url(#") {
				return errors.New("refers to " + a.Value)
			}
		}
	}
	if !titled || !sized {
		return errors.New("lacks a title or the 400 by 400 view box")
	}
	return nil
}

func TestUnknownImages(t *testing.T) {
	for _, path := range []string{
		imagePath, imagePath + "nothing.svg", imagePath + "%2e%2e%2fcatalog.json", imagePath + "..%2fcatalog.json", "/",
	} {
		if res := get(t, http.MethodGet, path); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, res.StatusCode)
		}
	}
	if res := get(t, http.MethodPost, imagePath+"milk.svg"); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d, want 405", res.StatusCode)
	}
}

func TestBaseURL(t *testing.T) {
	plain, err := Catalog("http://localhost:8080")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(plain, []byte(`"http://localhost:8080/demo/images/sourdough.svg"`)) {
		t.Error("image paths are not absolute")
	}
	slash, err := Catalog("http://localhost:8080/")
	if err != nil || !bytes.Equal(plain, slash) {
		t.Errorf("a trailing slash matters (error %v)", err)
	}
	for _, bad := range []string{"", "/shop", "localhost:8080", "ftp://localhost", "http://", "http://h/?q=1", "http://h\n"} {
		if _, err := Catalog(bad); err == nil {
			t.Errorf("base URL %q is accepted", bad)
		}
	}
}

// The pictures and the catalog are part of every binary.
func TestEmbeddedSize(t *testing.T) {
	size := len(catalogJSON)
	files, err := fs.ReadDir(imageFiles, "images")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += int(info.Size())
	}
	if size >= 300_000 {
		t.Errorf("embedded files take %d bytes", size)
	}
}

func get(t *testing.T, method, path string) *http.Response {
	t.Helper()
	rec := httptest.NewRecorder()
	Images().ServeHTTP(rec, httptest.NewRequest(method, path, nil))
	return rec.Result()
}

// sharedWords returns the share of the words of a and b that both contain.
func sharedWords(a, b string) float64 {
	words := map[string]int{}
	for _, w := range strings.Fields(strings.ToLower(a)) {
		words[w] |= 1
	}
	for _, w := range strings.Fields(strings.ToLower(b)) {
		words[w] |= 2
	}
	both := 0
	for _, in := range words {
		if in == 3 {
			both++
		}
	}
	return float64(both) / float64(len(words))
}

// miles is the great-circle distance between two points.
func miles(lat1, lng1, lat2, lng2 float64) float64 {
	const earthMiles, rad = 3958.8, math.Pi / 180
	h := math.Pow(math.Sin((lat2-lat1)*rad/2), 2) +
		math.Cos(lat1*rad)*math.Cos(lat2*rad)*math.Pow(math.Sin((lng2-lng1)*rad/2), 2)
	return 2 * earthMiles * math.Asin(math.Sqrt(h))
}
