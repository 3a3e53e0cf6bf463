package callback_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/callback"
	"paybook/ledger"
	"paybook/models"
)

// What comes by another way than HTTP gets the same answers, leaves the same evidence, and is observed alike.
func TestReceive(t *testing.T) {
	book, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "book.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	seen := 0
	server := callback.Server{Book: book, BodyMax: 100, Accounts: []callback.Account{{Name: "stripe", Provider: &shop{}}, {Name: "broken", Provider: &shop{verify: func(context.Context) error {
		return errors.New("no key")
	}}}, {Name: "mute", Provider: &silent{}}}, Observe: func(callback.Observation) { seen++ }}
	at := time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)
	arrival := func(account, body string, headers ...string) callback.Arrival {
		a := callback.Arrival{Callback: models.Callback{Account: account, Method: http.MethodPost, Path: "/callbacks/" + account, Headers: http.Header{}, Body: []byte(body), ReceivedAt: at}}
		for i := 0; i < len(headers); i += 2 {
			a.Headers.Add(headers[i], headers[i+1])
		}
		return a
	}
	cut := arrival("stripe", "half")
	cut.Unread = &models.Rejection{Reason: models.ReasonMalformed, Detail: "cut off"}
	for _, c := range []struct {
		name    string
		a       callback.Arrival
		status  int
		outcome models.Outcome
		reason  models.Reason
		failed  bool
	}{
		{"genuine", arrival("stripe", "genuine"), 200, models.OutcomeIgnored, "", false},
		{"again", arrival("stripe", "genuine"), 200, models.OutcomeIgnored, "", false},
		{"forged", arrival("stripe", "forged"), 401, "", models.ReasonSignature, false},
		{"too large", arrival("stripe", strings.Repeat("x", 101)), 401, "", models.ReasonTooLarge, false},
		{"packed", arrival("stripe", "genuine", "Content-Encoding", "gzip"), 415, "", models.ReasonMalformed, false},
		{"cut off", cut, 401, "", models.ReasonMalformed, false},
		{"a failure of ours", arrival("broken", "genuine"), 503, "", "", true},
		{"a provider without an event", arrival("mute", "genuine"), 503, "", "", true},
	} {
		before := seen
		r := server.Receive(t.Context(), c.a)
		if r.Status != c.status || r.Outcome != c.outcome || r.Reason != c.reason || (r.Err != nil) != c.failed || r.Account != c.a.Account || r.Took <= 0 || seen != before+1 {
			t.Errorf("%s: %+v", c.name, r)
		}
		if (r.Detail != "") != (c.reason != "") {
			t.Errorf("%s: detail %q", c.name, r.Detail)
		}
	}
	if r := server.Receive(t.Context(), arrival("none", "genuine")); !errors.Is(r.Err, callback.ErrNoAccount) || seen != 8 {
		t.Errorf("no such account: %+v, %d observed", r, seen)
	}
	list, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{})
	kept := map[models.Reason]int64{}
	for _, cb := range list {
		kept[cb.Reason] += cb.Deliveries
	}
	if err != nil || len(list) != 4 || kept[""] != 2 || kept[models.ReasonSignature] != 1 || kept[models.ReasonTooLarge] != 1 || kept[models.ReasonMalformed] != 1 {
		t.Errorf("kept %+v, %v", list, err)
	}
}

// A refusal whose evidence cannot be kept is a failure of ours too, beside its answer: whoever can try again does.
func TestReceiveWithoutABook(t *testing.T) {
	book, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "book.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := book.Close(); err != nil {
		t.Fatal(err)
	}
	server := callback.Server{Book: book, Accounts: []callback.Account{{Name: "stripe", Provider: &shop{}}}}
	for body, status := range map[string]int{"genuine": 503, "forged": 401} {
		if r := server.Receive(t.Context(), callback.Arrival{Callback: models.Callback{Account: "stripe", Body: []byte(body)}}); r.Status != status || r.Err == nil || r.Dropped {
			t.Errorf("%s: %+v", body, r)
		}
	}
	if !server.Has("stripe") || server.Has("none") {
		t.Error("Has is wrong")
	}
}

// silent breaks a provider's promise: it takes everything for genuine and says nothing of it.
type silent struct{ shop }

func (*silent) Verify(context.Context, models.Callback) ([]models.Event, error) { return nil, nil }
