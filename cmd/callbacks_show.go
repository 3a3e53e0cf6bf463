package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"paybook/callback"
	"paybook/models"
)

// shownCallback is all we know of one callback; headers that hold a secret are masked. Body is there on request only: it may hold
// what is nobody's business but the payer's.
type shownCallback struct {
	callbackJSON
	Method         string              `json:"method"`
	Path           string              `json:"path"`
	Query          string              `json:"query"`
	Headers        map[string][]string `json:"headers"`
	LastReceivedAt time.Time           `json:"last_received_at"`
	Verified       bool                `json:"verified"`
	Detail         string              `json:"detail"`
	BodyBytes      int                 `json:"body_bytes"`
	Body           *string             `json:"body,omitempty"`
	BodyBase64     []byte              `json:"body_base64,omitempty"` // in place of body, when that is no text
	Form           []formField         `json:"form,omitempty"`        // of a body that is one, beside it: decoded, in UTF-8
}

type callbackShowOptions struct {
	id, format, save string
	body             bool
}

func newCallbacksShowCommand(a *app) *cobra.Command {
	var o callbackShowOptions
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show one callback as it came",
		Long: `Show one callback: where it came, when and how often, what became of it, and its headers. Passwords and tokens in headers and in the
query are masked; the account's configuration tells which those are.

--body prints the body as well, of a form its fields, decoded and in UTF-8; in JSON the body stays as it came, with the fields beside it
as form. --save writes a recording for app replay and as evidence, complete, with the headers as they came,
passwords and tokens too: without them it would not verify again. Only its owner may read that file; do not pass it on.

` + exitCodesHelp,
		Example: "  app callbacks show 3f9a12bc --body\n  app callbacks show 3f9a12bc --save evidence.json",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			o.id = args[0]
			return a.showCallback(c.Context(), o)
		},
	}
	formatFlag(c, &o.format, "table", "json")
	c.Flags().BoolVar(&o.body, "body", false, "print the body too")
	c.Flags().StringVar(&o.save, "save", "", "write a recording to `FILE`")
	return c
}

func (a *app) showCallback(ctx context.Context, o callbackShowOptions) error {
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	cb, err := book.Callback(ctx, o.id)
	if err != nil {
		return listedBy("app callbacks list", err)
	}
	account := a.accountOf(cb)
	if o.save != "" {
		rec := recordingOf(cb)
		if account != nil {
			rec.Provider = account.ProviderName
		}
		if err := callback.WriteRecording(o.save, rec); err != nil {
			return err
		}
		fmt.Fprintf(a.err, "saved as %s\n", o.save)
	}
	shown := describeCallback(masked(account, cb), o.body)
	if o.format == "json" {
		return printJSON(a.out, shown)
	}
	return a.printCallback(shown)
}

func describeCallback(cb models.Callback, body bool) shownCallback {
	s := shownCallback{
		callbackJSON: listedCallback(cb), Method: cb.Method, Path: cb.Path, Query: cb.Query, Headers: maskHeaders(cb.Headers),
		LastReceivedAt: cb.LastReceivedAt.UTC(), Verified: cb.Verified, Detail: cb.Detail, BodyBytes: len(cb.Body),
	}
	if body {
		s.Form = formOf(cb)
	}
	switch {
	case !body:
	case utf8.Valid(cb.Body):
		text := string(cb.Body)
		s.Body = &text
	default:
		s.BodyBase64 = cb.Body
	}
	return s
}

func (a *app) printCallback(s shownCallback) error {
	p := a.colours()
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s %s\n", p.dim(fmt.Sprintf("%-12s", name)), value)
		}
	}
	line("callback", s.ID)
	line("account", s.Account)
	line("request", cell(s.Method+" "+s.Path))
	line("query", cell(s.Query))
	line("received", s.ReceivedAt.Format(time.RFC3339Nano))
	if s.Deliveries > 1 {
		line("repeated", fmt.Sprintf("%d deliveries, the last at %s", s.Deliveries, s.LastReceivedAt.Format(time.RFC3339Nano)))
	}
	line("answered", fmt.Sprint(s.Status))
	line("became", p.became(models.Callback{Verified: s.Verified, Outcome: s.Outcome, Reason: s.Reason}))
	line("why", cell(s.Detail))
	line("event", string(s.Event))
	line("transaction", cell(s.TransactionID))
	line("order", cell(s.OrderID))
	b.WriteString("\n")
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		for _, value := range s.Headers[name] {
			fmt.Fprintf(&b, "%s: %s\n", p.dim(cell(name)), cell(value))
		}
	}
	fmt.Fprintf(&b, "\n%s of body\n", count(s.BodyBytes, "byte"))
	switch {
	case s.Form != nil:
		for _, f := range s.Form {
			fmt.Fprintf(&b, "%s = %s\n", p.dim(cell(f.Name)), cell(f.Value))
		}
	case s.Body != nil:
		b.WriteString(lines(*s.Body) + "\n")
	case s.BodyBase64 != nil:
		raw, err := json.Marshal(s.BodyBase64)
		if err != nil {
			return err
		}
		b.WriteString("base64 " + string(raw) + "\n")
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// recordingOf is a kept callback as a recording. It expects the verdict it had and the answer it got; whether it shall be applied
// or is a duplicate depends on the book it is replayed into.
func recordingOf(cb models.Callback) callback.Recording {
	headers := make(map[string]string, len(cb.Headers))
	for name, values := range cb.Headers {
		headers[name] = strings.Join(values, ", ")
	}
	return callback.Recording{
		Name: cb.ID, Method: cb.Method, Path: cb.Path, Query: cb.Query, Headers: headers, Body: cb.Body, ReceivedAt: cb.ReceivedAt,
		Expect: callback.Expect{Verified: cb.Verified, Reason: string(cb.Reason), Event: string(cb.Event), TransactionID: cb.TransactionID,
			OrderID: cb.OrderID, ReplyStatus: cb.Status},
	}
}
