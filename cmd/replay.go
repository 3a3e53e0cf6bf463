package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"paybook/callback"
)

type replayOptions struct {
	paths  []string
	target string
	format string
}

func newReplayCommand(a *app) *cobra.Command {
	var o replayOptions
	c := &cobra.Command{
		Use:   "replay PATH…",
		Short: "Send recorded callbacks through the real handler and compare with what they expect",
		Long: `Send recorded callbacks through the real handler, one after the other, each at the time it was received, and compare what comes of
them with what the recording expects. PATH is a recording or a folder; of a folder every *.json with a body_base64, in the order of
the names. The account is the last part of a recording's path. The book is the one of --database: create the orders first.

With --target the recordings go to a running server that has --replay-clock, and only its answers can be compared.

Exit codes:
  0  everything came out as the recordings say
  1  an expectation failed
  2  could not be done: a file that is no recording, an account that is not configured, database`,
		Example: "  app import orders testdata/wechatpay/orders.json\n  app replay testdata/wechatpay/callbacks --config testdata/app.yaml\n" +
			"  app replay --target http://127.0.0.1:8080 testdata/wechatpay/callbacks",
		Args: someArgs,
		RunE: func(c *cobra.Command, args []string) error {
			o.paths = args
			return a.replay(c.Context(), o)
		},
	}
	formatFlag(c, &o.format, "table", "json")
	c.Flags().StringVar(&o.target, "target", "", "send to the server at `URL` instead")
	return c
}

func (a *app) replay(ctx context.Context, o replayOptions) error {
	recordings, err := readRecordings(o.paths)
	if err != nil {
		return err
	}
	send, finish, err := a.replaySender(ctx, o.target, recordings)
	if err != nil {
		return err
	}
	results, err := replayAll(ctx, send, recordings)
	if err = errors.Join(err, finish()); err != nil {
		return err
	}
	if err := a.printReplay(o.format, results); err != nil {
		return err
	}
	for _, r := range results {
		if !r.OK {
			return errLook
		}
	}
	return nil
}

func replayAll(ctx context.Context, send sender, recordings []recording) ([]replayed, error) {
	results := make([]replayed, 0, len(recordings))
	for _, rec := range recordings {
		answer, err := send(ctx, rec)
		if err != nil {
			return nil, fmt.Errorf("replay %s: %w", rec.file, err)
		}
		results = append(results, compare(rec, answer))
	}
	return results, nil
}

// recording is one recorded callback and where it was read.
type recording struct {
	callback.Recording
	file string
}

// account is the last part of the path: POST /callbacks/{account}.
func (r recording) account() string {
	p := strings.TrimRight(r.Path, "/")
	return p[strings.LastIndexByte(p, '/')+1:]
}

// readRecordings reads all of them before the first is sent, so that a broken file leaves nothing half-done.
func readRecordings(paths []string) ([]recording, error) {
	var list []recording
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		files := []string{path}
		if info.IsDir() {
			if files, err = recordingsIn(path); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			rec, err := callback.ReadRecording(file)
			if err != nil {
				return nil, notRecorded(file, err)
			}
			list = append(list, recording{rec, filepath.ToSlash(file)})
		}
	}
	return list, nil
}

// notRecorded says of a file that holds something else how a recording is made. What is wrong inside a recording is said as it is.
func notRecorded(file string, err error) error {
	var unread *fs.PathError
	if is, _ := isRecording(file); is || errors.As(err, &unread) {
		return err
	}
	return fmt.Errorf("no recording: %s: %w; `app callbacks show ID --save FILE` makes one", file, errors.Unwrap(err))
}

// recordingsIn lists the recordings of a folder and those below it, in the order of their names.
func recordingsIn(folder string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		is, err := isRecording(path)
		if is {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no recorded callbacks here (*.json with a body_base64)", folder)
	}
	return files, err
}

func isRecording(path string) (bool, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	var head struct {
		Body *json.RawMessage `json:"body_base64"`
	}
	err = json.Unmarshal(raw, &head)
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) { // an array, as orders.json is
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return head.Body != nil, nil
}

// answer is what came of sending a recording: the HTTP reply, and, where we can look into the server, what it made of the message.
type answer struct {
	status int
	body   string
	inside *callback.Observation // nil: not known
}

// sender sends one recording. An error means that there is no answer at all.
type sender func(ctx context.Context, rec recording) (answer, error)

func (r recording) request(ctx context.Context, base string) (*http.Request, error) {
	url := base + r.Path
	if r.Query != "" {
		url += "?" + r.Query
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, url, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	for name, value := range r.Headers {
		switch http.CanonicalHeaderKey(name) {
		case "Host":
			req.Host = value
		case "Content-Length", "Transfer-Encoding", "Connection", "Accept-Encoding": // of that connection, not of this one
		default:
			req.Header.Set(name, value)
		}
	}
	return req, nil
}

// overHTTP sends to a server with --replay-clock.
func overHTTP(target string) sender {
	client := &http.Client{
		Timeout:       replayTimeout,
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	base := strings.TrimRight(target, "/")
	return func(ctx context.Context, rec recording) (answer, error) {
		req, err := rec.request(ctx, base)
		if err != nil {
			return answer{}, err
		}
		req.Header.Set(callback.ReplayHeader, rec.ReceivedAt.UTC().Format(rfc3339Nano))
		resp, err := client.Do(req)
		if err != nil {
			return answer{}, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, callback.BodyMax))
		return answer{status: resp.StatusCode, body: string(body)}, err
	}
}
