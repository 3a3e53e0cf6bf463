package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// answerMax is how much of an answer is read: a service's yes or no is short.
const answerMax = 64 << 10

// post sends JSON and returns the answer of a service that has taken it (2xx). Errors name the host only.
func post(ctx context.Context, client *http.Client, address string, header http.Header, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the sink's address is none")
	}
	for name := range header {
		req.Header.Set(name, header.Get(name))
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "paybook-alerts")
	resp, err := client.Do(req)
	if err != nil {
		var spelled *url.Error // spells the address out
		if errors.As(err, &spelled) {
			err = spelled.Err
		}
		return nil, fmt.Errorf("%s: %w", req.URL.Hostname(), err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, answerMax))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, fmt.Errorf("%s answers %d", req.URL.Hostname(), resp.StatusCode)
	case err != nil:
		return nil, fmt.Errorf("%s: answer: %w", req.URL.Hostname(), err)
	}
	return answer, nil
}

// postChat sends a message to a chat service, which says in its answer whether it has taken it: 200 alone means nothing. The answer must
// have one of the fields named, a number, which must be 0.
func postChat(ctx context.Context, client *http.Client, address string, message any, fields ...string) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	answer, err := post(ctx, client, address, nil, body)
	if err != nil {
		return err
	}
	var said map[string]any
	numbers := json.NewDecoder(bytes.NewReader(answer))
	numbers.UseNumber()
	if err := numbers.Decode(&said); err != nil {
		return errors.New("the service answers something that is not JSON: is this its address?")
	}
	for _, field := range fields {
		code, ok := said[field].(json.Number)
		switch {
		case !ok:
			continue
		case code == "0":
			return nil
		}
		why, _ := said["errmsg"].(string)
		if why == "" {
			why, _ = said["msg"].(string)
		}
		return fmt.Errorf("the service refuses it: %s %s %s", field, cut(OneLine(code.String()), 20), cut(OneLine(why), 200))
	}
	return fmt.Errorf("the service's answer does not say whether it has taken the message (no %s)", fields[0])
}
