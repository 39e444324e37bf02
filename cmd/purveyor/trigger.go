package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"purveyor/internal/config"
	"purveyor/internal/outside/httpcall"
)

// triggerCommand has a running service play a test order, so that a partner's developer sees an event arrive.
type triggerCommand struct {
	Kind  string `arg:"" help:"The event, as order.delivered."`
	Key   string `help:"A test key of the partner, with the scope write_orders. - reads it from standard input." required:"" placeholder:"KEY" env:"PURVEYOR_KEY" secret:"" group:"Service:"`
	URL   string `help:"The service." default:"http://127.0.0.1:8080" placeholder:"URL" env:"PURVEYOR_URL" name:"url" group:"Service:"`
	Store string `help:"The store of the order. Default: one that has goods." placeholder:"ID"`
}

// triggerTimeout is above what the slowest event takes.
const triggerTimeout = 40 * time.Second

func (c triggerCommand) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	if err := config.HTTPURL("--url", c.URL); err != nil {
		return err
	}
	key, err := fromInput("--key", c.Key)
	if err != nil {
		return err
	}
	client := httpcall.Client(nil)
	client.Timeout = triggerTimeout
	play := httpcall.Call{Method: http.MethodPost, URL: strings.TrimSuffix(c.URL, "/") + "/v1/sandbox/trigger",
		Header: http.Header{"X-Api-Key": {key}}, JSON: struct {
			Event   string `json:"event"`
			StoreID string `json:"store_id,omitempty"`
		}{c.Kind, c.Store}}
	answer, err := play.Do(ctx, client, maxAnswer)
	if err != nil {
		return err
	}
	var played struct {
		Error   string `json:"error"`
		OrderID string `json:"order_id"`
	}
	if err := json.Unmarshal(answer.Body, &played); err != nil {
		return errors.New("the answer is none of the service; is --url right?")
	}
	if answer.Status != http.StatusOK {
		return fmt.Errorf("the service answered %d: %s", answer.Status, played.Error)
	}
	printf("%s  %s\n", c.Kind, played.OrderID)
	return nil
}
