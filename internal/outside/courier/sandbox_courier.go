package courier

import (
	"fmt"
	"strconv"

	"purveyor/internal/commerce"
)

// couriers are the sandbox's couriers. Their phone numbers are not in service.
var couriers = []struct{ name, vehicle, color string }{
	{"Amara O.", "bicycle", "#0b4fb3"},
	{"Ben T.", "car", "#8a3ffc"},
	{"Chiara L.", "scooter", "#b3261e"},
	{"Dmitri V.", "van", "#1b6e3c"},
	{"Esra K.", "bicycle", "#9a5b00"},
	{"Finn M.", "walker", "#005d73"},
	{"Grace N.", "car", "#a2195b"},
	{"Hiro S.", "motorcycle", "#3d4551"},
	{"Ines P.", "scooter", "#5b2d90"},
	{"Jamal R.", "truck", "#0a5f52"},
	{"Kavya D.", "car", "#7a3b12"},
	{"Luca B.", "bicycle", "#274690"},
}

const picturesPath = "/sandbox/couriers/"

// courierOf returns the courier of a delivery, without the position.
func (s *Sandbox) courierOf(id string) commerce.Courier {
	i := drawn(id[len(deliveryPrefix):], len(couriers))
	return commerce.Courier{
		Name:     couriers[i].name,
		Phone:    fmt.Sprintf("+120255501%02d", i+1),
		Vehicle:  couriers[i].vehicle,
		ImageURL: s.URL + picturesPath + strconv.Itoa(i+1) + ".svg",
	}
}

// drawn returns a number below n, derived from the first hexadecimal digits of an id.
func drawn(digits string, n int) int {
	v, err := strconv.ParseUint(digits[:8], 16, 32)
	if err != nil {
		panic(err) // ids are checked when they are parsed
	}
	return int(v % uint64(n))
}

// vehicles maps the providers' names of vehicles to words.
var vehicles = map[string]string{
	"bicycle": "by bicycle", "car": "by car", "scooter": "by scooter", "van": "by van",
	"walker": "on foot", "motorcycle": "by motorcycle", "truck": "by truck",
}

// portrait is the picture of a courier, made from a name, a colour and an initial.
const portrait = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96" role="img"><title>%s</title>` +
	`<rect width="96" height="96" fill="%s"/><circle cx="48" cy="38" r="19" fill="#fff"/><path d="M12 96a36 34 0 0 1 72 0z" fill="#fff"/>` +
	`<text x="48" y="90" font-family="sans-serif" font-size="20" font-weight="700" text-anchor="middle" fill="#16191d">%s</text></svg>
`
