package main

import (
	"net"
	"net/http"
	"testing"

	"purveyor/internal/web"
)

// The server tells requests their connections, so that answers of more than 8 KiB are sent by one system call.
func TestServerGathersAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := limitConnections(l, 8, web.Proxies{})
	defer limited.Close()
	caller, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer caller.Close()
	conn, err := limited.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if newHTTPServer(http.NotFoundHandler(), nil).ConnContext(t.Context(), conn) == t.Context() {
		t.Error("requests do not know their connection")
	}
}
