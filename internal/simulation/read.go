package simulation

import "github.com/go-json-experiment/json"

// decode reads JSON. Names may be written with other capitals.
func decode(text []byte, into any) error {
	return json.Unmarshal(text, into, json.MatchCaseInsensitiveNames(true))
}
