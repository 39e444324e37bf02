package requestlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"store sto_1 is not known":      "store sto_1 is not known",
		"sk_live_abc234":                "[redacted]",
		"key sk_test_abc-2_3, and more": "key [redacted], and more",
		"xsk_live_abc":                  "x[redacted]",
		"task_list and risk_level":      "task_list and risk_level",
		"sk_other":                      "[redacted]",
		"-sk_other":                     "-[redacted]",
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw==.": "[redacted].",
		"awhsec_x":                     "a[redacted]",
		"https://jo:pw@shop.example/a": "https://[redacted]@shop.example/a",
		"https://jo@a@shop.example":    "https://[redacted]@shop.example",
		"https://shop.example/a@b":     "https://shop.example/a@b",
		"https://shop.example?a@b":     "https://shop.example?a@b",
		"://@":                         "://@",
		"mail jo@shop.example":         "mail jo@shop.example",
		"4242424242424242":             "[redacted]",
		"4242 4242 4242 4242":          "[redacted]",
		"4242-4242-4242-4242, 5":       "[redacted], 5",
		"4242424242424243":             "4242424242424243",
		"12 4242424242424242 7":        "12 [redacted] 7",
		"1 4242424242424242":           "1 [redacted]",
		"a4242424242424242b":           "a[redacted]b",
		"4222222222222":                "[redacted]",
		"378282246310005":              "[redacted]",
		"6304000000000000000":          "[redacted]",
		"6304000000000000001":          "6304000000000000001",
		"00004242424242424242":         "00004242424242424242", // 20 digits
		"4242  4242 4242 4242":         "4242  4242 4242 4242",
		"0000000000000":                "[redacted]",
		"1772463845250":                "1772463845250",
		"sk_live_a sk_live_b whsec_c":  "[redacted] [redacted] [redacted]",
	} {
		got, changed := appendText([]byte("before "), []byte(text))
		if string(got) != "before "+want || changed != (text != want) {
			t.Errorf("%q: %q, %v; want %q", text, got[len("before "):], changed, want)
		}
	}
}

func TestBody(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:    `{}`,
		` [ ] `: `[]`,
		`{"a":1,"b":[true,false,null,-0.5e+3,"x"],"c":{}}`:                                                              `same`,
		"{ \"a\" :\n1 ,\t\"b\": [ 1 , 2 ] }":                                                                            `{"a":1,"b":[1,2]}`,
		`{"secret":"a","value":1,"token":null,"password":true}`:                                                         `{"secret":"[redacted]","value":"[redacted]","token":null,"password":"[redacted]"}`,
		`{"email":{"a":[1,{"b":2}]},"phone":[[],{}],"city":{},"line1":[]}`:                                              `{"email":"[redacted]","phone":"[redacted]","city":"[redacted]","line1":"[redacted]"}`,
		`{"Customer_Email":"a@b.example","phone\u005fnumber":"1"}`:                                                      `{"Customer_Email":"[redacted]","phone_number":"[redacted]"}`,
		`{"name":"Bread","product":{"name":"Bread"}}`:                                                                   `same`,
		`{"delivery_address":{"name":"Jo","address":{"line1":"1 Main St","state":"CA","name":"x","geo":{"name":"y"}}}}`: `{"delivery_address":{"name":"[redacted]","address":{"line1":"[redacted]","state":"CA","name":"[redacted]","geo":{"name":"y"}}}}`,
		`{"delivery_address":"1 Main St","address":"1 Main St"}`:                                                        `{"delivery_address":"[redacted]","address":"1 Main St"}`,
		`{"delivery_address":["1 Main St",{"name":"Jo"}]}`:                                                              `{"delivery_address":["[redacted]",{"name":"[redacted]"}]}`,
		`{"courier":{"name":"Jo","vehicle_type":"car","location":{"lat":1}}}`:                                           `{"courier":{"name":"[redacted]","vehicle_type":"car","location":{"lat":1}}}`,
		`{"pickup_instructions":"a","dropoff_instructions":"b"}`:                                                        `{"pickup_instructions":"[redacted]","dropoff_instructions":"[redacted]"}`,
		`{"metadata":{"a":"x","b":null,"c":{"d":1},"e":[1]},"n":1}`:                                                     `{"metadata":{"a":"[redacted]","b":null,"c":"[redacted]","e":"[redacted]"},"n":1}`,
		`{"metadata":"x"}`:         `{"metadata":"[redacted]"}`,
		`{"metadata":["x",1,[2]]}`: `{"metadata":["[redacted]","[redacted]","[redacted]"]}`,
		`{"metadata":7}`:           `{"metadata":"[redacted]"}`,
		`{"checkout_url":"https://x","courier_tracking_url":"y","tracking_page_url":"z"}`: `{"checkout_url":"[redacted]","courier_tracking_url":"[redacted]","tracking_page_url":"[redacted]"}`,
		`{"a":"sk_live_x","sk_test_y":"\u0073k_live_z"}`:                                  `{"a":"[redacted]","[redacted]":"[redacted]"}`,
		`{"url":"https:\/\/jo:pw@shop.example"}`:                                          `{"url":"https://[redacted]@shop.example"}`,
		`{"card":4242424242424242,"n":-4242424242424242.5,"ms":1772463845250}`:            `{"card":"[redacted]","n":"[redacted]","ms":1772463845250}`,
		`{"card":"4242\u00204242 4242 4242"}`:                                             `{"card":"[redacted]"}`,
		`{"secret":"a","secret":"b","a":1,"a":"whsec_x"}`:                                 `{"secret":"[redacted]","secret":"[redacted]","a":1,"a":"[redacted]"}`,
		`"text"`:                 `same`,
		`"sk_live_abc"`:          `"[redacted]"`,
		`"\ud83e\uddc0 \"\\ \n"`: `"🧀 \"\\ \n"`,
		`"\ud83e"`:               ``,
		``:                       ``,
		` `:                      ``,
		`{`:                      ``,
		`{"a"}`:                  ``,
		`{"a":1,}`:               ``,
		`[1,]`:                   ``,
		`[1 2]`:                  ``,
		`{} {}`:                  ``,
		`{"a":01}`:               ``,
		`{"a":1.}`:               ``,
		`-`:                      ``,
		`nul`:                    ``,
		"\"\xff\"":               ``,
		"\"\x01\"":               ``,
		`"\x"`:                   ``,
		`"a`:                     ``,
		`{"secret":[1,}`:         ``,
		"PK\x03\x04\x00":         ``,
		"\x00":                   ``,
		"{}\x00":                 ``,
	} {
		if want == "same" {
			want = body
		}
		got, dst := AppendBody([]byte("before"), []byte(body), false)
		if string(got.Text) != want || string(dst) != "before"+want {
			t.Errorf("%s:\n got %s\nwant %s", body, got.Text, want)
		}
		if got.Cut != (want == "" && body != "") {
			t.Errorf("%s: cut is %v", body, got.Cut)
		}
	}
}

// A body that is too long is read whole, and cut afterwards.
func TestLongBody(t *testing.T) {
	long := strings.Repeat("ä", BodyRoom)
	got, _ := AppendBody(nil, []byte(`{"a":"`+long+`","secret":"x"}`), false)
	if !got.Cut || !utf8.Valid(got.Text) || len(got.Text) > BodyRoom || len(got.Text) < BodyRoom-3 {
		t.Errorf("%d bytes, cut %v, UTF-8 %v", len(got.Text), got.Cut, utf8.Valid(got.Text))
	}
	if got, _ := AppendBody(nil, []byte(`{"a":"`+long+`","secret":"x"`), false); !got.Cut || got.Text != nil {
		t.Errorf("what is no JSON behind the cut: %d bytes", len(got.Text))
	}
	for _, key := range []string{"sk_live_abcdefghijklmnopqrstuvwxyz234567", "4242424242424242"} {
		for before := BodyRoom - len(key) - 20; before < BodyRoom+3; before++ {
			got, _ := AppendBody(nil, fmt.Appendf(nil, `{"a":"%s","b":"%s %s"}`, strings.Repeat("x", before-len(`{"a":"","b":"`)), "y", key), false)
			if bytes.Contains(got.Text, []byte(key[:8])) {
				t.Fatalf("%s: behind %d bytes a part of the key is left: %s", key, before, got.Text[before:])
			}
		}
	}
	exact := `"` + strings.Repeat("x", BodyRoom-2) + `"`
	if got, _ := AppendBody(nil, []byte(exact), false); got.Cut || string(got.Text) != exact {
		t.Errorf("a body that fits is cut to %d bytes", len(got.Text))
	}
	if got, _ := AppendBody(nil, []byte(" "+exact[:10]+"x"+exact[10:]), true); !got.Cut || len(got.Text) != BodyRoom {
		t.Errorf("a body of one byte more has %d bytes, cut %v", len(got.Text), got.Cut)
	}
}

func TestDeepBody(t *testing.T) {
	for depth, kept := range map[int]bool{mostNested: true, mostNested + 1: false} {
		body := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)
		if got, _ := AppendBody(nil, []byte(body), false); (len(got.Text) > 0) != kept {
			t.Errorf("%d deep: %d bytes are kept", depth, len(got.Text))
		}
	}
	deep := strings.Repeat(`{"a":[`, mostNested/2-1)
	got, _ := AppendBody(nil, []byte(`{"secret":`+deep+strings.Repeat(`]}`, mostNested/2-1)+`,"b":1}`), false)
	if string(got.Text) != `{"secret":"[redacted]","b":1}` {
		t.Errorf("%s", got.Text)
	}
}

// A body says which store and order it is about.
func TestBodyIsAbout(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"store_id":"sto_1","order_id": "ord_1"}`:             {"sto_1", "ord_1"},
		`{"order_id":"ord_1_01234567890abcdefg01234567"}`:      {"", "ord_1_01234567890abcdefg01234567"},
		`{"order":{"store_id":"sto_1"}}`:                       {},
		`{"store_id":7,"order_id":null}`:                       {},
		`{"store_id":"sk_live_x"}`:                             {},
		`{"store_id":"s\u0074o"}`:                              {},
		`[{"store_id":"sto_1"}]`:                               {},
		`{"store_id":"` + strings.Repeat("x", mostID+1) + `"}`: {},
	} {
		if got, _ := AppendBody(nil, []byte(body), true); got.StoreID != want[0] || got.OrderID != want[1] {
			t.Errorf("%s: %q, %q", body, got.StoreID, got.OrderID)
		}
	}
}

func TestTarget(t *testing.T) {
	for target, want := range map[string]string{
		"/v1/products/prd_1":                                  "same",
		"/v1/products?store_id=sto_1&limit=3":                 "same",
		"/v1/products?store_id=a%20b&c=d+e&":                  "same",
		"/v1/orders/sk_live_abc/ping?a=sk_test_b":             "/v1/orders/[redacted]/ping?a=[redacted]",
		"/v1/orders/sk%5flive_abc":                            "/v1/orders/[redacted]",
		"/v1/orders?email=jo%40shop.example&PHONE=1&token=&x": "/v1/orders?email=[redacted]&PHONE=[redacted]&token=&x",
		"/v1/orders?e%6dail=jo":                               "/v1/orders?e%6dail=[redacted]",
		"/v1/orders?delivery_address=1+Main+St&name=Bread":    "/v1/orders?delivery_address=[redacted]&name=Bread",
		"/v1/orders?q=4242+4242+4242+4242":                    "/v1/orders?q=[redacted]",
		"/v1/orders?sk_live_abc=1&sk%5Flive_abc":              "/v1/orders?[redacted]=1&[redacted]",
		"/v1/orders?url=https%3A%2F%2Fjo%3Apw%40shop.example": "/v1/orders?url=https%3A%2F%2F[redacted]%40shop.example",
		"/v1/orders?a=%zz":                                    "/v1/orders?a=[redacted]",
		"/v1/4242%204242%204242%2042%34%32/x%25":              "/v1/[redacted]/x%25",
		"/v1/4242%204242%204242%204243/x%25":                  "same",
		"/v1/%34242424242424242":                              "/v1/[redacted]",
	} {
		if want == "same" {
			want = target
		}
		if got := string(appendTarget(nil, target)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", target, got, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	from := http.Header{"X-Api-Key": {"sk_live_a"}, "Cookie": {"a"}, "Authorization": {"Bearer a"}, "X-Forwarded-For": {"192.0.2.1"},
		"Accept": {"*/*"}, "Accept-Language": {"en"}, "Content-Type": {"application/json"}, "Content-Language": {"en", "de"}, "Content-Sk_live_a": {"1"},
		"Idempotency-Key": {"4242424242424242"}, "User-Agent": {"shop sk_live_a", strings.Repeat("x", mostHeader+1)}, "X-Trace-Id": {"trace 1", "other"}, "Traceparent": {"00-1"}}
	b, cut := appendRequestHeaders(nil, from, "trace 1")
	got, ok := readHeaders(b, "trace 1")
	want := []Header{{"accept", "*/*"}, {"content-[redacted]", "1"}, {"content-language", "en"}, {"content-language", "de"}, {"content-type", "application/json"},
		{"idempotency-key", "[redacted]"}, {"traceparent", "00-1"}, {"user-agent", "shop [redacted]"}, {"user-agent", strings.Repeat("x", mostHeader)}, {"x-trace-id", "trace 1"}, {"x-trace-id", "other"}}
	if fmt.Sprint(got) != fmt.Sprint(want) || !ok || !cut {
		t.Errorf("%v %v\n%v\n%v", ok, cut, got, want)
	}
	many := http.Header{}
	for i := range 100 {
		many[fmt.Sprint("Content-", i)] = []string{"x"}
	}
	many["Accept"] = make([]string, 100)
	b, cut = appendRequestHeaders(nil, many, "")
	if got, ok := readHeaders(b, ""); len(got) > mostHeaders || !ok || !cut {
		t.Errorf("%d headers are kept", len(got))
	}
}

// secrets are those that the fuzzers put into what they are given.
var secrets = []string{"sk_live_abcdefghijklmnopqrstuvwxyz234567", "sk_test_234567abcdefghijklmnopqrstuvwxyz", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	"4242424242424242", "378282246310005", "5555-5555-5555-4444"}

// FuzzBody: whatever the body is, what is kept of it is JSON, or its begin, without a secret in
// it, and is the same as of a body without white space.
func FuzzBody(f *testing.F) {
	for _, body := range []string{`{"a":"%s"}`, `{"%s":1}`, `["%s","%s"]`, `{"metadata":{"a":"%s"},"b":%s}`, `"\u0073%s"`, "%s", `{"secret":{"a":["%s"]}}`} {
		f.Add([]byte(body), uint8(0), false)
		f.Add([]byte(body), uint8(3), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, which uint8, escaped bool) {
		secret := secrets[int(which)%len(secrets)]
		planted := secret
		if escaped {
			planted = ""
			for _, c := range secret {
				planted += fmt.Sprintf(`\u%04x`, c)
			}
		}
		// A digit beside the number of a card makes another number of it.
		body = bytes.ReplaceAll(body, []byte("%s"), []byte("."+planted+"."))
		got, dst := AppendBody([]byte("x"), body, false)
		if len(got.Text) > BodyRoom || string(dst[1:]) != string(got.Text) {
			t.Fatalf("%d bytes are kept, %d appended", len(got.Text), len(dst)-1)
		}
		strict := json.Valid(body) && utf8.Valid(body)
		switch {
		case len(got.Text) == 0:
			return // that json.Valid accepts more than we do is no harm: lone surrogates, depth
		case !strict:
			t.Fatalf("%q is kept of %q, which is no JSON", got.Text, body)
		case !got.Cut:
			var v any
			decoder := json.NewDecoder(bytes.NewReader(got.Text))
			decoder.UseNumber()
			if err := decoder.Decode(&v); err != nil {
				t.Fatalf("%q is kept of %q: %v", got.Text, body, err)
			}
			noSecret(t, v)
			if again, _ := AppendBody(nil, got.Text, true); !bytes.Equal(again.Text, got.Text) {
				t.Fatalf("%q becomes %q", got.Text, again.Text)
			}
		}
		for _, secret := range secrets {
			if bytes.Contains(got.Text, []byte(secret)) {
				t.Fatalf("%q has %s", got.Text, secret)
			}
		}
		if trusted, _ := AppendBody(nil, body, true); string(trusted.Text) != string(got.Text) || trusted.Cut != got.Cut {
			t.Fatalf("%q is kept of a body that is trusted, %q of one that is not", trusted.Text, got.Text)
		}
	})
}

// noSecret fails for a secret in a decoded value.
func noSecret(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case string:
		for _, secret := range secrets {
			if strings.Contains(v, secret) {
				t.Fatalf("%q has %s", v, secret)
			}
		}
	case []any:
		for _, e := range v {
			noSecret(t, e)
		}
	case map[string]any:
		for name, e := range v {
			noSecret(t, name)
			noSecret(t, e)
			if rulesOf(name)&hideAlways != 0 && e != nil && e != redacted {
				t.Fatalf("%s is %v", name, e)
			}
		}
	}
}
