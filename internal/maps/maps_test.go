package maps

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

func point(lat, lng float64) *commerce.Point { return &commerce.Point{Lat: lat, Lng: lng} }

func place3(lat, lng, radius float64) *commerce.Place {
	return &commerce.Place{Point: commerce.Point{Lat: lat, Lng: lng}, RadiusMiles: radius}
}

// TestInside: whatever is drawn is inside of the map, in the right direction, and well-formed.
func TestInside(t *testing.T) {
	five := 5.0
	for name, m := range map[string]Map{
		"one place":      {Store: point(30.2672, -97.7431)},
		"delivery":       {Title: `A <b> & "c"`, Store: point(30.2672, -97.7431), RadiusMiles: &five, Door: place3(30.30, -97.70, 0), Courier: point(30.28, -97.72)},
		"far":            {Store: point(30, -97), Door: place3(45, -120, 10)},
		"same place":     {Store: point(30, -97), Door: place3(30, -97, 0), Courier: point(30, -97)},
		"date line":      {Store: point(-16.8, 179.99), Door: place3(-16.8, -179.99, 0)},
		"pole":           {Store: point(89.99, 0), Door: place3(89.98, 120, 1)},
		"address alone":  {Door: place3(30, -97, 3)},
		"radius of zero": {Store: point(30, -97), RadiusMiles: new(float64)},
	} {
		got := string(m.SVG())
		d := xml.NewDecoder(strings.NewReader(got))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, got)
			}
		}
		for _, bad := range []string{"style=", "<script", "NaN", "Inf", "%!"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s has %s:\n%s", name, bad, got)
			}
		}
		for _, c := range regexp.MustCompile(`<circle class="door" cx="(\S+)" cy="(\S+)"|<rect class="store" x="(\S+)" y="(\S+)"`).FindAllStringSubmatch(got, -1) {
			x, y := number(c[1]+c[3]), number(c[2]+c[4])
			if x < 20 || x > wide-20 || y < 20 || y > high-20 {
				t.Errorf("%s: %s is outside", name, c[0])
			}
		}
	}
}

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// TestDirections: north is up, east is right, and distances are to scale.
func TestDirections(t *testing.T) {
	at := commerce.Point{Lat: 60, Lng: 10}
	v := view{origin: at, scale: 10}
	for _, c := range []struct{ lat, lng, x, y float64 }{
		{60, 10, wide / 2, high / 2},
		{60 + 1/milesOfDegree, 10, wide / 2, high/2 - 10},
		{60, 10 + 2/milesOfDegree, wide/2 + 10, high / 2}, // at 60 degrees a degree is half as wide
	} {
		if x, y := v.at(commerce.Point{Lat: c.lat, Lng: c.lng}); math.Abs(x-c.x) > 1e-6 || math.Abs(y-c.y) > 1e-6 {
			t.Errorf("%v: at %v, %v", c, x, y)
		}
	}
}

// TestFigures: the distances stand below in words.
func TestFigures(t *testing.T) {
	ten := 10.0
	got := string(Map{Store: point(30, -97), RadiusMiles: &ten, Door: place3(30.1, -97, 0)}.SVG())
	for _, want := range []string{"<td>Store to address</td><td class=\"num\">6.9 miles</td>", "<td class=\"num\">10 miles</td>", "The store delivers 10 miles"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s:\n%s", want, got)
		}
	}
	for _, c := range []struct {
		miles float64
		want  string
	}{{1, "1 mile"}, {0.25, "0.25 miles"}, {12.34, "12.3 miles"}, {0.5, "0.5 miles"}, {100, "100 miles"}, {0, "0 miles"}} {
		if got := miles(c.miles); got != c.want {
			t.Errorf("%v: %s", c.miles, got)
		}
	}
	if got := (Map{}).SVG(); got != "" {
		t.Errorf("a map without a place: %s", got)
	}
}
