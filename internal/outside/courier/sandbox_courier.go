package courier

import (
	"fmt"
	"strconv"

	"purveyor/internal/commerce"
)

// couriers are who works for the sandbox. Their phone numbers ring nowhere.
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

// courierOf is who brings a delivery, wherever that is.
func (s *Sandbox) courierOf(id string) commerce.Courier {
	i := drawn(id[len(deliveryPrefix):], len(couriers))
	return commerce.Courier{
		Name:     couriers[i].name,
		Phone:    fmt.Sprintf("+120255501%02d", i+1),
		Vehicle:  couriers[i].vehicle,
		ImageURL: s.baseURL + picturesPath + strconv.Itoa(i+1) + ".svg",
	}
}

// drawn is a number below n that follows from the first hexadecimal digits of
// an id.
func drawn(digits string, n int) int {
	v, err := strconv.ParseUint(digits[:8], 16, 32)
	if err != nil {
		panic(err) // ids are checked when they are read
	}
	return int(v % uint64(n))
}
