package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"paybook/models"
)

const (
	clicks = 5  // on one "buy" button
	units  = 3  // of the article everybody wants
	buyers = 20 // of it
)

// demoSKU is the article of the demo's shop.
const demoSKU = "TEAPOT-1"

// scene is one line of the story: what was done, what came of it, and whether that is right.
type scene struct {
	what, came string
	ok         bool
}

// shopAnswer is what a request to the shop's routes was told.
type shopAnswer struct {
	status   int
	replayed bool
	busy     bool // the first request with this token is still being worked on
	body     []byte
}

// playShop is the shop's own side: buttons that are pressed five times, and more buyers than there is stock.
func (d *demo) playShop(ctx context.Context) error {
	stock := func(yield func(models.Stock, error) bool) { yield(models.Stock{SKU: demoSKU, Quantity: units}, nil) }
	if _, err := d.book.ImportStock(ctx, iter.Seq2[models.Stock, error](stock)); err != nil {
		return err
	}
	token, err := d.issueToken(ctx)
	if err != nil {
		return err
	}
	var scenes []scene
	for _, play := range []func(context.Context, string) (scene, error){d.fiveClicks, d.otherOrder, d.soldOut, d.cancelled} {
		s, err := play(ctx, token)
		if err != nil {
			return err
		}
		scenes = append(scenes, s)
	}
	d.printScenes("the shop", "its orders count once, and its stock is never sold twice", scenes)
	return nil
}

func (d *demo) issueToken(ctx context.Context) (string, error) {
	a, err := d.ask(ctx, http.MethodPost, "/tokens", "", map[string]string{"scope": "cart:8812"})
	if err != nil {
		return "", err
	}
	var issued struct{ Token string }
	if err := json.Unmarshal(a.body, &issued); err != nil || a.status != http.StatusCreated {
		return "", fmt.Errorf("POST /tokens was answered %d: %s", a.status, cell(string(a.body)))
	}
	return issued.Token, nil
}

// fiveClicks presses one button five times at once.
func (d *demo) fiveClicks(ctx context.Context, token string) (scene, error) {
	answers, err := d.together(clicks, func(int) (shopAnswer, error) { return d.buy(ctx, token, "SO-CLICK-1", 1) })
	made, replays := 0, 0
	for _, a := range answers {
		switch {
		case a.status == http.StatusCreated && a.replayed && bytes.Equal(a.body, answers[0].body):
			replays++
		case a.status == http.StatusCreated:
			made++
		}
	}
	return scene{
		fmt.Sprintf("%d clicks on \"buy\" with one token", clicks),
		fmt.Sprintf("%s, %s", count(made, "order"), count(replays, "replay")),
		made == 1 && replays == clicks-1,
	}, err
}

// otherOrder tries the spent token for something else.
func (d *demo) otherOrder(ctx context.Context, token string) (scene, error) {
	a, err := d.buy(ctx, token, "SO-CLICK-2", 1)
	return scene{"the same token for another order", fmt.Sprintf("refused with %d", a.status), a.status == http.StatusUnprocessableEntity}, err
}

// soldOut has more buyers than units. One unit is the first scene's.
func (d *demo) soldOut(ctx context.Context, _ string) (scene, error) {
	if _, err := d.ask(ctx, http.MethodPost, "/orders/SO-CLICK-1/cancel", "", nil); err != nil {
		return scene{}, err
	}
	answers, err := d.together(buyers, func(i int) (shopAnswer, error) { return d.buy(ctx, "", fmt.Sprintf("SO-RUSH-%02d", i+1), 1) })
	sold, refused := 0, 0
	for _, a := range answers {
		switch {
		case a.status == http.StatusCreated:
			sold++
		case a.status == http.StatusConflict && bytes.Contains(a.body, []byte("out_of_stock")):
			refused++
		}
	}
	left, err2 := d.stockLeft(ctx)
	if err == nil {
		err = err2
	}
	return scene{
		fmt.Sprintf("%d units, %d buyers at once", units, buyers),
		fmt.Sprintf("%s, %d out of stock, %d left", count(sold, "order"), refused, left),
		sold == units && refused == buyers-units && left == 0,
	}, err
}

// cancelled gives a unit back, once, however often it is asked for.
func (d *demo) cancelled(ctx context.Context, _ string) (scene, error) {
	for i := range buyers {
		for range 2 {
			if a, err := d.ask(ctx, http.MethodPost, fmt.Sprintf("/orders/SO-RUSH-%02d/cancel", i+1), "", nil); err != nil || a.status == http.StatusNotFound {
				break
			}
		}
	}
	left, err := d.stockLeft(ctx)
	return scene{"all of them cancelled, twice each", fmt.Sprintf("%d units left", left), left == units}, err
}

func (d *demo) stockLeft(ctx context.Context) (int64, error) {
	a, err := d.ask(ctx, http.MethodGet, "/stock/"+demoSKU, "", nil)
	if err != nil {
		return 0, err
	}
	var s struct{ Available int64 }
	err = json.Unmarshal(a.body, &s)
	return s.Available, err
}

// buy orders the article. A click that comes while the first is still being worked on is told so, and comes again, as a browser's does.
func (d *demo) buy(ctx context.Context, token, order string, quantity int) (shopAnswer, error) {
	body := map[string]any{"order_id": order, "amount": "19.99", "currency": "CNY", "items": []map[string]any{{"sku": demoSKU, "quantity": quantity}}}
	for {
		a, err := d.ask(ctx, http.MethodPost, "/orders", token, body)
		if err != nil || !a.busy {
			return a, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return a, ctx.Err()
		}
	}
}

// ask sends one request to the shop's routes.
func (d *demo) ask(ctx context.Context, method, path, token string, body any) (shopAnswer, error) {
	var send io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return shopAnswer{}, err
		}
		send = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, d.url+path, send)
	if err != nil {
		return shopAnswer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Idempotency-Key", token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return shopAnswer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return shopAnswer{
		status: resp.StatusCode, replayed: resp.Header.Get("Idempotency-Replayed") == "true",
		busy: resp.StatusCode == http.StatusConflict && resp.Header.Get("Retry-After") != "", body: raw,
	}, err
}

// together does the same n times at once.
func (d *demo) together(n int, do func(i int) (shopAnswer, error)) ([]shopAnswer, error) {
	answers, errs := make([]shopAnswer, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i], errs[i] = do(i) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// printScenes shows a part of the story, and notes what came out otherwise.
func (d *demo) printScenes(title, about string, scenes []scene) {
	d.say("\n%s  %s", d.p.bold(title), d.p.dim(about))
	t := newTable("", "what happens", "what comes of it")
	for _, s := range scenes {
		if !s.ok {
			d.differ("%s: %s: %s", title, s.what, s.came)
		}
		t.AppendRow([]any{d.p.mark(s.ok), s.what, strings.TrimSpace(cell(s.came))})
	}
	if err := printTable(d.a.out, t, ""); err != nil {
		return // the end of the program says that the result could not be written
	}
}
