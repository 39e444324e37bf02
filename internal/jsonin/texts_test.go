package jsonin

import (
	"strings"
	"testing"
)

type noted struct {
	Metadata Texts[three] `json:"metadata"`
	Next     *string      `json:"next"`
}

func TestTexts(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "absent", `{"metadata":null,"next":"b"}`: "absent", `{"metadata":{}}`: "", `{"metadata":{"a":"1","b":null,"c":""},"next":"b"}`: "a=1 b c=",
	} {
		var in noted
		if err := Decode([]byte(body), &in); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		var parts []string
		for _, name := range []string{"a", "b", "c"} {
			if text, ok := in.Metadata[name]; ok && text == nil {
				parts = append(parts, name)
			} else if ok {
				parts = append(parts, name+"="+*text)
			}
		}
		got := strings.Join(parts, " ")
		if in.Metadata == nil {
			got = "absent"
		}
		if got != want || strings.Contains(body, "next") != (in.Next != nil) {
			t.Errorf("%s: %q", body, got)
		}
	}
	for body, want := range map[string]string{
		`{"metadata":{"a":"","b":"","c":"","d":""}}`:      "metadata.d is more than the 3 names that are allowed at once",
		`{"metadata":{"a":"","b":"","c":"","d":"nonsense`: "metadata.d is more than the 3 names that are allowed at once",
		`{"metadata":5}`:                  "metadata must be an object",
		`{"metadata":[{"a":"1"}]}`:        "metadata must be an object",
		`{"metadata":{"a":5}}`:            "metadata.a must be a string",
		`{"metadata":{"12":5}}`:           "metadata.12 must be a string",
		`{"metadata":{"a":{"b":"c"}}}`:    "metadata.a must be a string",
		`{"metadata":{"a":"","a":""}}`:    "metadata.a is given twice",
		`{"metadata":{"a":`:               "not valid JSON",
		`{"metadata":{"a"`:                "not valid JSON",
		`{"metadata":{"a":"" "b":""}}`:    "not valid JSON",
		`{"metadata":{"a":"",`:            "not valid JSON",
		`{"metadata":{7:""}}`:             "not valid JSON",
		`{"metadata":`:                    "not valid JSON",
		"{\"metadata\":{\"a\":\"\xff\"}}": "not valid JSON",
	} {
		var in noted
		if err := Decode([]byte(body), &in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}
