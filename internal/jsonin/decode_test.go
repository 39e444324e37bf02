package jsonin

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// everyKind has a field for each way in which requests are read.
type everyKind struct {
	Text   *string `json:"text"`
	Plain  string  `json:"plain"`
	Flag   *bool   `json:"flag"`
	Int    *Int    `json:"int"`
	Major  *Major  `json:"major"`
	Rate   *Rate   `json:"rate"`
	Number *Number `json:"number"`
	Either *TextOr[struct {
		Quantity *Int `json:"quantity"`
	}] `json:"either"`
	Texts  *[]string `json:"texts"`
	Nested *struct {
		Lines []struct {
			Quantity *Int `json:"quantity"`
		} `json:"lines"`
	} `json:"nested"`
}

func TestDecodeNamesTheFault(t *testing.T) {
	for _, c := range []struct{ body, field, says string }{
		{``, "body", "empty"},
		{" \t\r\n", "body", "empty"},
		{`null`, "body", "object"},
		{`[]`, "body", "object"},
		{`{`, "body", "not valid JSON"},
		{`{} {}`, "body", "not valid JSON"},
		{`{"text":5}`, "text", "must be a string"},
		{`{"plain":null,"text":{}}`, "text", "must be a string"},
		{`{"flag":"true"}`, "flag", "must be true or false"},
		{`{"int":"5"}`, "int", "must be an integer"},
		{`{"int":5.5}`, "int", "too many decimal places"},
		{`{"int":1e999999999}`, "int", "too large"},
		{`{"major":0.001}`, "major", "two decimal places"},
		{`{"rate":-1}`, "rate", "negative"},
		{`{"rate":true}`, "rate", "must be a number"},
		{`{"texts":["a",5]}`, "texts[1]", "must be a string"},
		{`{"texts":{}}`, "texts", "must be an array"},
		{`{"nested":[]}`, "nested", "must be an object"},
		{`{"either":5}`, "either", "must be a string or an object"},
		{`{"either":["a"]}`, "either", "must be a string or an object"},
		{`{"either":{"quantity":"5"}}`, "either.quantity", "must be an integer"},
		{`{"number":"5"}`, "number", "must be a number"},
		{`{"nested":{"lines":[{},{"quantity":[]}]}}`, "nested.lines[1].quantity", "must be an integer"},
		{`{"text":"a","text":"b"}`, "text", "twice"},
		{`{"nested":{"x":1,"x":2}}`, "nested.x", "twice"},
		{`{"unknown":"\u0000"}`, "body", "NUL"},
		{"{\"text\":\"\xff\"}", "text", "UTF-8"},
		{`{"a/b~c":{"d":1,"d":1}}`, "a/b~c.d", "twice"},
	} {
		var v everyKind
		err := Decode([]byte(c.body), &v)
		var e *commerce.Error
		if !errors.As(err, &e) || e.Kind != commerce.KindInvalid || e.Code != "invalid_body" || e.Field != c.field || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: want %s ... %s, got %#v", c.body, c.field, c.says, err)
		}
	}
}

func TestTextOr(t *testing.T) {
	for body, want := range map[string]string{`{"either":"a"}`: "a", `{"either":{"quantity":7}}`: "7", `{"either":null}`: "nothing", `{}`: "nothing"} {
		var v everyKind
		if err := Decode([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		got := "nothing"
		switch {
		case v.Either != nil && v.Either.Text != nil:
			got = *v.Either.Text
		case v.Either != nil:
			got = fmt.Sprint(*v.Either.Object.Quantity)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// A number that is too large is infinite, and so more than any bound.
func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{"10": 10, "2.5": 2.5, "1e2": 100, "-0.5": -0.5, "1e-999999999": 0, "1e999999999": math.Inf(1), "-1e400": math.Inf(-1)} {
		if got, err := decoded[Number](text); err != nil || float64(*got) != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestDecodeTakes(t *testing.T) {
	for _, body := range []string{`{}`, " {} \n", `{"unknown":{"a":[1,2,{}]}}`, `{"text":null,"int":null,"nested":null,"texts":null}`,
		`{"text":"\\u0000"}`, `{"text":"\\\\u0000 ä 🧀"}`, `{"int":5e0}`, `{"int":-0}`, `{"int":0e999999999}`} {
		var v everyKind
		if err := Decode([]byte(body), &v); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A path that is longer than any real one is cut, between two characters.
func TestLongPathsAreCut(t *testing.T) {
	body := strings.Repeat(`{"ä`+strings.Repeat("ö", 40)+`":`, 20) + `{"x":1,"x":2}` + strings.Repeat("}", 20)
	var v everyKind
	var e *commerce.Error
	if err := Decode([]byte(body), &v); !errors.As(err, &e) || len(e.Field) > 210 || !strings.HasSuffix(e.Field, "...") || strings.Contains(e.Field, "\ufffd") {
		t.Errorf("%#v", e)
	}
}

// FuzzDecode: no body panics, each refusal names a field, and what is accepted
// means the same when it is written by another encoder and read again.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{``, `{}`, `null`, `{"text":"a","int":5,"major":19.99,"rate":8.25,"flag":true,"texts":["a"],"nested":{"lines":[{"quantity":2}]}}`,
		`{"int":1e400}`, `{"major":-0.1}`, `{"text":"\ud800"}`, `{"text":"\u0000"}`, "{\"text\":\"\xff\"}", `{"text":"a","text":"b"}`, strings.Repeat(`{"nested":`, 50),
		`{"x":` + strings.Repeat("[", 11_000)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v everyKind
		if err := Decode(data, &v); err != nil {
			var e *commerce.Error
			if !errors.As(err, &e) || e.Field == "" || e.Message == "" || e.Kind != commerce.KindInvalid {
				t.Fatalf("%#v", err)
			}
			return
		}
		again, err := json.Marshal(map[string]any{"text": v.Text, "plain": v.Plain, "flag": v.Flag, "int": v.Int, "texts": v.Texts, "nested": v.Nested})
		if err != nil {
			t.Fatal(err)
		}
		var w everyKind
		if err := Decode(again, &w); err != nil {
			t.Fatalf("%s was accepted, its repetition %s is not: %v", data, again, err)
		}
		w.Major, w.Rate = v.Major, v.Rate // numbers_test.go compares them
		if !reflect.DeepEqual(v, w) {
			t.Fatalf("%s and %s are not the same", data, again)
		}
	})
}
