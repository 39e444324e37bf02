package load

import (
	"bufio"
	"context"
	cryptorand "crypto/rand"
	"errors"
	"log/slog"
	"os"
	"runtime/pprof"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/commit"
	"purveyor/internal/effect"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/web"
)

// ServeProfiled is the hidden command "profiled ADDRESS DATABASE PROFILE": the
// parts of the service put together as cmd/purveyor does it, with a CPU
// profile of all that it does.
func ServeProfiled(ctx context.Context, addr, database, profile string) (err error) {
	engine, err := OpenEngine(database)
	if err != nil {
		return err
	}
	committer := commit.New(engine, 0)
	defer func() { committer.Close(); err = errors.Join(err, engine.Close()) }()
	out := bufio.NewWriterSize(os.Stderr, 64<<10) // the handler of slog takes turns by itself
	defer func() { _ = out.Flush() }()
	log := slog.New(slog.NewTextHandler(out, nil))
	f, err := os.Create(profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	effects := effect.Start(effect.Options{Engine: engine, Committer: committer, Worker: cryptorand.Text(), Sender: webhook.NewSender(true)})
	defer func() {
		giveBack, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		effects.Stop(giveBack)
	}()
	return ServeUntilDone(ctx, addr, web.Trace(log, api.New(engine, committer, api.Options{}).Handler()))
}
