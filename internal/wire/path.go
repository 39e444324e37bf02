package wire

import "strconv"

// Index is the path of a field of a list's element: items[3].quantity.
func Index(list string, i int, field string) string {
	path := list + "[" + strconv.Itoa(i) + "]"
	if field != "" {
		path += "." + field
	}
	return path
}
