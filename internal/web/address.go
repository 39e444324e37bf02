package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Address is what a request counts under where limits go by address: the IPv4
// address of its caller, or the /64 network of an IPv6 one, because one machine
// may use all addresses of it. See Proxies for the caller.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	return counted(address)
}

func counted(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	network, _ := address.Prefix(64) // every IPv6 address has one
	return network.String()
}

// Proxies are the networks of the reverse proxies that are trusted to say where
// a request comes from.
type Proxies []netip.Prefix

func (p Proxies) trust(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// Handler gives next each request with its caller in RemoteAddr. That is the
// peer; from a trusted proxy it is the right-most address of X-Forwarded-For
// that is no trusted proxy (BEHAVIOUR, Access). What stands left of it was
// written by callers, and is not believed.
func (p Proxies) Handler(next http.Handler) http.Handler {
	if len(p) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && p.trust(peer.Addr()) {
			caller := p.forwarded(peer.Addr(), r.Header["X-Forwarded-For"])
			r.RemoteAddr = netip.AddrPortFrom(caller, 0).String()
		}
		next.ServeHTTP(w, r)
	})
}

// forwarded is the caller on whose behalf a trusted peer asks. A header that is
// missing, or unreadable at that place, tells nothing: then it is the last
// address that is known, a proxy.
func (p Proxies) forwarded(last netip.Addr, headers []string) netip.Addr {
	for _, header := range slices.Backward(headers) {
		hops := strings.Split(header, ",")
		for _, hop := range slices.Backward(hops) {
			switch address, ok := parseHop(strings.TrimSpace(hop)); {
			case !ok:
				return last
			case !p.trust(address):
				return address
			default:
				last = address
			}
		}
	}
	return last
}

// parseHop reads an address, which some proxies write with a port.
func parseHop(text string) (netip.Addr, bool) {
	if address, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return address, true
	}
	withPort, err := netip.ParseAddrPort(text)
	return withPort.Addr(), err == nil
}
