package backoffice

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/web"
)

// Times and bounds of the stream of a board.
const (
	maxBoards  = 500
	boardTick  = 2 * time.Second  // longest silence; a browser that hears nothing says so after five
	boardCheck = 5 * time.Second  // between two checks of the user's rights
	boardWrite = 10 * time.Second // for the browser to read one write
)

// boardStream sends the changes of a board as server-sent events: HTML that replaces cards,
// and "tick" when nothing has changed. A browser that comes back with Last-Event-ID gets the
// changes since then.
func (v *visit) boardStream() error {
	h, f := v.o.boards, v.boardFilter()
	h.mu.Lock()
	full := h.boards >= maxBoards
	h.mu.Unlock()
	if full {
		return &web.Error{Status: http.StatusTooManyRequests, Code: "too_many_boards", RetryAfter: 30, Message: "Too many boards are open"}
	}
	view, err := h.open(v.Context(), f)
	if err != nil {
		return err
	}
	head := v.w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("X-Accel-Buffering", "no")
	if v.Method == http.MethodHead {
		v.w.WriteHeader(http.StatusOK)
		return nil
	}
	ctx, cancel := context.WithCancel(v.Context())
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	view = h.enter(view)
	defer h.leave(view)
	v.follow(ctx, view, cmp.Or(v.Header.Get("Last-Event-ID"), v.URL.Query().Get("since")))
	return nil
}

// follow writes the changes of a view until the board is closed, or its user may no longer
// see it as it is.
func (v *visit) follow(ctx context.Context, view *boardView, last string) {
	h, e := v.o.boards, v.o.env
	text, checked := "retry: 1000\n", e.Now()
	for ctx.Err() == nil {
		h.mu.Lock()
		now := commerce.MillisOf(e.Now())
		messages, position, changed := view.after(last, now), view.position(), view.changed
		h.mu.Unlock()
		for i, m := range messages {
			if i == len(messages)-1 {
				text += "id: " + position + "\n"
			}
			text += "data: " + strings.ReplaceAll(m, "\n", " ") + "\n\n"
		}
		last = position
		if v.write(text+fmt.Sprintf("event: tick\ndata: %d\n\n", now)) != nil {
			return
		}
		text = ""
		e.Wait(boardTick, changed, ctx.Done())
		if e.Since(checked) >= boardCheck {
			user, err := v.still()
			if err != nil || !user.MaySomewhere(v.route.may) {
				return
			}
			if v.user = user; v.boardFilter().key() != view.filter.key() {
				return
			}
			checked = e.Now()
		}
	}
}

// write sends text to the browser.
func (v *visit) write(text string) error {
	return web.Push(v.o.env, v.w, []byte(text), boardWrite, boardTick)
}
