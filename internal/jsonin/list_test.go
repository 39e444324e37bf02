package jsonin

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"purveyor/internal/commerce"

	"github.com/go-json-experiment/json"
)

type three struct{}

func (three) Most() int { return 3 }

type listed struct {
	List List[listedElement, three] `json:"list"`
	Next *string                    `json:"next"`
}

type listedElement struct {
	ID *string `json:"id"`
	N  *Int    `json:"n"`
}

func TestList(t *testing.T) {
	for body, want := range map[string]int{
		`{}`: 0, `{"list":null}`: 0, `{"list":[]}`: 0, `{"list":[{}]}`: 1, `{"list":[{"n":1}, {"id":"a"} ,{"x":[1]}],"next":"b"}`: 3,
	} {
		var in listed
		if err := Decode([]byte(body), &in); err != nil || len(in.List) != want {
			t.Errorf("%s: %d elements, %v", body, len(in.List), err)
		}
	}
}

// What is wrong is named by its path, as in any array.
func TestListErrors(t *testing.T) {
	for body, want := range map[string]string{
		`{"list":[{},{},{},{}]}`:                  "list must have at most 3 elements",
		`{"list":[{},{},{},{"n":"nonsense`:        "list must have at most 3 elements",
		`{"list":5}`:                              "list must be an array",
		`{"list":{"a":1}}`:                        "list must be an array",
		`{"next":"a","list":"text"}`:              "list must be an array",
		`{"list":[{},5]}`:                         "list[1] must be an object",
		`{"list":[{},{"n":1.5}]}`:                 "list[1].n must be an integer",
		`{"list":[{},{"id":5}]}`:                  "list[1].id must be a string",
		`{"list":[{"id":"a","id":"b"}]}`:          "list[0].id is given twice",
		`{"list":[{}`:                             "not valid JSON",
		`{"list":[{},`:                            "not valid JSON",
		`{"list":[{},{},{},`:                      "not valid JSON",
		`{"list":[{} {}]}`:                        "not valid JSON",
		`{"list":`:                                "not valid JSON",
		`{"list":[{"id":"` + "\xff" + `"}]}`:      "not valid JSON",
		`{"list":[],"list":[]}`:                   "list is given twice",
		`{"list":[{},{},{},{}],"next":"trailing"`: "list must have at most 3 elements",
	} {
		var in listed
		err := Decode([]byte(body), &in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

// The digest of a request is made of what is encoded here, and stored: a list
// is encoded as the array that it is.
func TestListEncodes(t *testing.T) {
	for body, want := range map[string]string{`{}`: `{"list":[],"next":null}`, `{"list":[{"n":1e1}]}`: `{"list":[{"id":null,"n":10}],"next":null}`} {
		var in listed
		if err := Decode([]byte(body), &in); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(in); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", body, got, err)
		}
	}
}

// A list within its bound is decoded as any array is, and what is refused of an
// array is refused of a list.
func FuzzList(f *testing.F) {
	for _, body := range []string{`{"list":[{"id":"a","n":1},{}]}`, `{"list":null}`, `{"list":[null]}`, `{"list":[1]}`, `{"list":[{}] ,"next":"x"}`,
		`{"list":[[]]}`, `{"list":[{},{},{},{}]}`, `{"list":[{"n":1.5}]}`, `{"list":[`, `{"list":{}}`, `{"x":1,"x":2}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var list listed
		var plain struct {
			List []listedElement `json:"list"`
			Next *string         `json:"next"`
		}
		err, plainErr := Decode([]byte(body), &list), Decode([]byte(body), &plain)
		switch {
		case err == nil && len(list.List) > 3:
			t.Errorf("%q: %d elements", body, len(list.List))
		case plainErr != nil && err == nil:
			t.Errorf("%q: taken, where an array is refused: %v", body, plainErr)
		case plainErr == nil && (err == nil) != (len(plain.List) <= 3):
			t.Errorf("%q: %d elements, %v", body, len(plain.List), err)
		case err == nil && (!reflect.DeepEqual(plain.List, []listedElement(list.List)) && len(plain.List) > 0):
			t.Errorf("%q: %v, want %v", body, list.List, plain.List)
		}
	})
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// crowded are bodies of nearly 1 MiB with as much in them as fits.
var crowded = []struct {
	name, start, element, end string
	most                      uint64 // bytes that decoding allocates
}{
	{"empty elements", `{"list":[`, `{}`, `]}`, 16 << 10},
	{"numbers as elements", `{"list":[`, `1`, `]}`, 16 << 10},
	{"an unknown list", `{"x":[`, `{}`, `]}`, 16 << 10},
	{"unknown names", `{`, `"%x":1`, `}`, 20 << 20},
	{"unknown names in an object", `{"x":{`, `"%x":1`, `}}`, 20 << 20},
}

func crowdedBody(start, element, end string) []byte {
	b := []byte(start)
	for i := 0; len(b) < 1<<20-30; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		if strings.Contains(element, "%") {
			b = fmt.Appendf(b, element, i)
		} else {
			b = append(b, element...)
		}
	}
	return append(b, end...)
}

// However much a body holds, decoding it allocates little; and what is left of
// the body behind a list that is too long is not even looked at.
func TestDecodeAllocatesLittle(t *testing.T) {
	for _, c := range crowded {
		data := crowdedBody(c.start, c.element, c.end)
		var in listed
		if got := allocated(func() { _ = Decode(data, &in) }); got > c.most {
			t.Errorf("%s: decoding %d bytes allocates %d, want at most %d", c.name, len(data), got, c.most)
		}
	}
}

func BenchmarkDecodeCrowded(b *testing.B) {
	for _, c := range crowded {
		data := crowdedBody(c.start, c.element, c.end)
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var in listed
				_ = Decode(data, &in)
			}
		})
	}
}

// Each stops at the first thing that is wrong, and names it by its path.
func TestEach(t *testing.T) {
	c := Check{Prefix: "product."}
	looked := 0
	c.Each("list", 1000, func(i int) {
		looked++
		if i == 2 {
			c.Fail("id", "is wrong")
			c.Fail("n", "is wrong too")
		}
	})
	c.Fail("next", "is wrong as well")
	if err := c.Err.(*commerce.Error); err.Field != "product.list[2].id" || looked != 3 {
		t.Errorf("%d elements, %v", looked, err)
	}
	c = Check{}
	c.Each("list", 2, func(int) { c.Required("", new("x"), 1) })
	c.Each("empty", 0, func(int) { c.Fail("", "there is none") })
	c.Fail("next", "is wrong")
	if err := c.Err.(*commerce.Error); err.Field != "next" {
		t.Error(err)
	}
	c = Check{}
	c.Images("images", &[]string{"a", " "})
	if err := c.Err.(*commerce.Error); err.Field != "images[1]" || !strings.Contains(err.Message, "images[1] is missing") {
		t.Error(err)
	}
}

// The paths of elements are not built as long as nothing is wrong.
func TestEachAllocatesNothing(t *testing.T) {
	id := "a"
	if n := testing.AllocsPerRun(10, func() {
		var c Check
		c.Each("list", 100, func(int) { c.ID("id", &id) })
	}); n > 1 { // the closure
		t.Errorf("%v allocations", n)
	}
}
