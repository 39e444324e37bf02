package webhook

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// TestMessageIsAsOfNetHTTP: what is composed says what net/http would say.
func TestMessageIsAsOfNetHTTP(t *testing.T) {
	for _, url := range []string{
		"https://p.example", "https://p.example/", "http://p.example/a%20b/c?d=e%26f&g#h", "https://p.example?x", "https://P.Example/HOOK",
		"https://p.example:8443/hook", "https://p.example:/hook", "https://p.example/a b;c=d/é?q=ü", "https://p.example/%0d%0aX-A:%20b",
		"http://bücher.example/", "http://bücher.example:81/", "http://[2001:db8::1]/", "http://[2001:db8::1]:8080/a", "http://[fe80::1%25eth0]:80/",
		"https://ann:s3cret@p.example/", "https://ann@p.example/", "https://a%3An:%0d%0as@p.example/",
	} {
		r := Request{URL: url, ID: "evt_1", Body: []byte(body), At: 1_800_000_000_000, Secret: "whsec_YWJj", PreviousSecret: "old"}
		_, message, err := new(Sender).compose(r)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		got := read(t, message)
		request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Content-Type", "User-Agent", "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature", "X-Partner-Signature"} {
			request.Header.Set(name, got.Header.Get(name))
		}
		if u := request.URL.User; u != nil {
			password, _ := u.Password()
			request.SetBasicAuth(u.Username(), password)
		}
		var theirs bytes.Buffer
		if err := request.Write(&theirs); err != nil {
			t.Fatal(err)
		}
		want := read(t, theirs.Bytes())
		if got.Method != want.Method || got.RequestURI != want.RequestURI || got.Host != want.Host || got.Proto != want.Proto ||
			!reflect.DeepEqual(got.Header, want.Header) || got.ContentLength != want.ContentLength {
			t.Errorf("%s is asked by\n%s\nwant\n%s", url, message, theirs.Bytes())
		}
		if text, err := io.ReadAll(got.Body); err != nil || string(text) != body {
			t.Errorf("%s: body %q, %v", url, text, err)
		}
	}
	for _, url := range []string{"https://p.example/\r\nX-A: b", "https://p.example/?\x00", "https://p.exa mple/", "https:///hook", "ftp://p.example/", "/hook", "%"} {
		if _, message, err := new(Sender).compose(Request{URL: url}); err == nil {
			t.Errorf("%q is asked by\n%s", url, message)
		}
	}
}

func read(t *testing.T, message []byte) *http.Request {
	t.Helper()
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(message)))
	if err != nil {
		t.Fatalf("%v\n%s", err, message)
	}
	return request
}

func BenchmarkCompose(b *testing.B) {
	var s Sender
	r := Request{URL: "https://p.example/hook", ID: "evt_1", Body: bytes.Repeat([]byte("b"), 700), At: 1_800_000_000_000, Secret: "whsec_YWJj"}
	for b.Loop() {
		if _, _, err := s.compose(r); err != nil {
			b.Fatal(err)
		}
	}
}
