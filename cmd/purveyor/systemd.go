package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"purveyor/internal/config"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// inherit returns the socket that systemd listens on for this service; nil: there is none.
// Connections wait in that socket while one process follows another.
func inherit(s config.Server) (net.Listener, error) {
	sockets, err := activation.Listeners()
	if err != nil || len(sockets) == 0 {
		return nil, err
	}
	l, isTCP := sockets[0].(*net.TCPListener)
	if len(sockets) > 1 || !isTCP {
		return nil, errors.New("systemd must pass one socket, of the kind ListenStream=PORT")
	}
	s.Listen = l.Addr().String()
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("the socket of systemd stands for --listen: %w", errors.Join(err, l.Close()))
	}
	return l, nil
}

// tell sends a state of the process to systemd, if that has started it.
func tell(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		slog.Warn("systemd cannot be told the state of the service", "state", state, "error", err)
	}
}

// watchdog tells systemd, until ctx ends, that the process works. It asks for what a restart
// can repair: a database that answers reads. One that takes no writes, as on a full disk, is
// no reason to end the reads as well.
func (s *process) watchdog(ctx context.Context) {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		slog.Warn("the watchdog of systemd cannot be served", "error", err)
	}
	if limit <= 0 {
		return
	}
	turns := time.NewTicker(limit / 3)
	defer turns.Stop()
	for {
		if s.reads.OK() {
			tell(daemon.SdNotifyWatchdog)
		}
		select {
		case <-turns.C:
		case <-ctx.Done():
			return
		}
	}
}
