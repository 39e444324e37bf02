package sms

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

const (
	account = "AC00000000000000000000000000000001"
	token   = "0123456789abcdef0123456789abcdef"
)

func texter(t *testing.T, handler http.HandlerFunc) *Twilio {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	sender, err := NewTwilio(Config{AccountSID: account, AuthToken: token, From: "(212) 555-0100", BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return sender
}

func TestSend(t *testing.T) {
	requests := 0
	sender := texter(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.Method != http.MethodPost || r.URL.String() != "/2010-04-01/Accounts/"+account+"/Messages.json" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		if user, password, ok := r.BasicAuth(); !ok || user != account || password != token {
			t.Errorf("basic auth %q %q %v", user, password, ok)
		}
		if kind := r.Header.Get("Content-Type"); kind != "application/x-www-form-urlencoded" {
			t.Errorf("content type %q", kind)
		}
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		form, _ := json.Marshal(r.PostForm)
		if want := `{"Body":["Paid: crème \u0026 café, 12 $"],"From":["+12125550100"],"To":["+12125550123"]}`; string(form) != want {
			t.Errorf("form %s, want %s", form, want)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"sid":"SM1","status":"queued"}`)
	})
	if err := sender.Send(t.Context(), Message{To: "+1 212-555-0123", Text: "Paid: crème & café, 12 $"}); err != nil {
		t.Error(err)
	}
	if requests != 1 {
		t.Errorf("%d requests", requests)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status    int
		body      string
		want      string
		permanent bool
	}{
		{400, `{"code":21211,"message":"Invalid 'To' Phone Number","status":400}`, "code 21211: Invalid 'To' Phone Number", true},
		{400, `{"code":21610,"message":"Attempt to send to unsubscribed recipient","status":400}`, "code 21610", true},
		{404, `{"code":20404,"message":"Not found","status":404}`, "code 20404", true},
		{401, `{"code":20003,"message":"Authenticate","status":401}`, "code 20003", false},
		{429, `{"code":20429,"message":"Too Many Requests","status":429}`, "code 20429", false},
		{500, `{"code":20500,"message":"Internal Server Error","status":500}`, "code 20500", false},
		{503, `{"code":20503,"message":"Service unavailable","status":503}`, "code 20503", false},
		{502, `<html>Bad gateway</html>`, "502", false},
		{302, `{}`, "it answered 302", false},
	} {
		sender := texter(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		err := sender.Send(t.Context(), Message{To: "2125550123", Text: "Paid"})
		checkError(t, err, c.want, c.permanent)
	}
}

func checkError(t *testing.T, err error, want string, permanent bool) {
	t.Helper()
	var p *commerce.PermanentError
	if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &p) != permanent {
		t.Errorf("%v; want %q, permanent: %v", err, want, permanent)
	}
}

// TestCheck: the account is read, and nothing is sent.
func TestCheck(t *testing.T) {
	sender := texter(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); r.Method != http.MethodGet || r.URL.Path != "/2010-04-01/Accounts/"+account+".json" || user != account || password != token {
			t.Errorf("%s %s", r.Method, r.URL)
		}
	})
	if err := sender.Check(t.Context()); err != nil {
		t.Error(err)
	}
	refuses := texter(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"status":401,"code":20003,"message":"Authenticate"}`))
	})
	checkError(t, refuses.Check(t.Context()), "Authenticate", false)
}

func TestHang(t *testing.T) {
	sender := texter(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	})
	sender.timeout = 250 * time.Millisecond
	checkError(t, sender.Send(t.Context(), Message{To: "2125550123"}), "no answer within 0.25 s", false)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	checkError(t, sender.Send(ctx, Message{To: "2125550123"}), "canceled", false)
}

func TestNoRecipient(t *testing.T) {
	sender := texter(t, func(http.ResponseWriter, *http.Request) { t.Error("sent") })
	checkError(t, sender.Send(t.Context(), Message{To: "call me"}), "is no phone number", true)
}

func TestConfig(t *testing.T) {
	good := Config{AccountSID: account, AuthToken: token, From: "+12125550100"}
	if sender, err := NewTwilio(good); err != nil || sender.account != "https://api.twilio.com/2010-04-01/Accounts/"+account {
		t.Fatal(sender, err)
	}
	for name, spoil := range map[string]func(*Config){
		"account": func(c *Config) { c.AccountSID = "../" },
		"token":   func(c *Config) { c.AuthToken = "" },
		"sender":  func(c *Config) { c.From = "shop" },
		"URL":     func(c *Config) { c.BaseURL = "localhost" },
	} {
		c := good
		spoil(&c)
		if _, err := NewTwilio(c); err == nil {
			t.Errorf("%s: %+v was taken", name, c)
		}
	}
}
