package cmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"paybook/callback"
	"paybook/models"
)

// savedMax bounds a saved request: the largest body that is taken, in base64 and with its headers.
const savedMax = 4 * callback.BodyMax

// savedRequest is a callback out of a file, as far as the file tells.
type savedRequest struct {
	models.Callback          // ReceivedAt is zero when the file does not say
	notes           []string // what is odd about the file
}

// readSavedRequest reads one of the forms in which people have a callback: a recording (app callbacks show --save, or of the test kit),
// what `app callbacks show --format json --body` prints, or the request as it went over the wire.
func readSavedRequest(in io.Reader, file string) (savedRequest, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return savedRequest{}, err
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, savedMax+1))
	switch {
	case err != nil:
		return savedRequest{}, fmt.Errorf("%s: %w", file, err)
	case len(raw) > savedMax:
		return savedRequest{}, fmt.Errorf("%s: larger than %d bytes: not one callback", file, savedMax)
	}
	var req savedRequest
	if text := bytes.TrimPrefix(raw, []byte("\ufeff")); bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		req, err = parseSavedJSON(text)
	} else {
		req, err = parseRawRequest(raw)
	}
	if err != nil {
		return req, fmt.Errorf("%s: %w", file, err)
	}
	return req, nil
}

// savedJSON has the fields of a recording and of a shown callback, which are the same but for headers with several values.
type savedJSON struct {
	Account    string                     `json:"account"`
	Method     string                     `json:"method"`
	Path       string                     `json:"path"`
	Query      string                     `json:"query"`
	Headers    map[string]json.RawMessage `json:"headers"`
	Body       *string                    `json:"body"`
	BodyBase64 *[]byte                    `json:"body_base64"`
	BodyBytes  *int                       `json:"body_bytes"`
	ReceivedAt time.Time                  `json:"received_at"`
}

func parseSavedJSON(text []byte) (savedRequest, error) {
	var s savedJSON
	if err := json.Unmarshal(text, &s); err != nil {
		return savedRequest{}, err
	}
	req := savedRequest{Callback: models.Callback{Account: s.Account, Method: s.Method, Path: s.Path, Query: s.Query,
		Headers: http.Header{}, ReceivedAt: s.ReceivedAt.UTC()}}
	switch {
	case s.Headers == nil:
		return req, errors.New("no headers: a recording (app callbacks show ID --save FILE) or a raw HTTP request expected, not a body alone")
	case s.BodyBase64 != nil:
		req.Body = *s.BodyBase64
	case s.Body != nil:
		req.Body = []byte(*s.Body)
	case s.BodyBytes != nil && *s.BodyBytes == 0:
	default:
		return req, errors.New("no body: print it with `app callbacks show ID --format json --body`, or better save it with --save FILE")
	}
	for name, value := range s.Headers {
		values, err := oneOrMore(value)
		if err != nil {
			return req, fmt.Errorf("headers.%s: %w", name, err)
		}
		for _, v := range values {
			if v == maskedValue {
				req.notes = append(req.notes, fmt.Sprintf("header %s is masked in this file: save it with `app callbacks show ID --save FILE`, which keeps it", name))
			}
			req.Headers.Add(name, v)
		}
	}
	if strings.Contains(s.Query, "="+maskedValue) {
		req.notes = append(req.notes, "the query is masked in this file: save it with `app callbacks show ID --save FILE`, which keeps it")
	}
	if s.Account == "" {
		req.Account = accountOfPath(s.Path)
	}
	return req, nil
}

func oneOrMore(value json.RawMessage) (values []string, err error) {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return []string{one}, nil
	}
	return values, json.Unmarshal(value, &values)
}

// accountOfPath is the last part of a callback's path: POST /callbacks/{account}.
func accountOfPath(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// parseRawRequest reads a request as it went over the wire: a line of method and path, headers, a blank line, the body byte for byte.
// Lines may end in a line feed alone.
func parseRawRequest(raw []byte) (savedRequest, error) {
	buf := bufio.NewReader(bytes.NewReader(raw))
	head := textproto.NewReader(buf)
	line, err := head.ReadLine()
	method, rest, _ := strings.Cut(line, " ")
	target, version, versioned := strings.Cut(rest, " ")
	if err != nil || method == "" || method != strings.ToUpper(method) || target == "" || versioned && !strings.HasPrefix(version, "HTTP/") {
		return savedRequest{}, errors.New("line 1: neither a recording nor a request: JSON, or a line such as POST /callbacks/stripe HTTP/1.1 expected")
	}
	at, err := url.ParseRequestURI(target)
	if err != nil {
		return savedRequest{}, errors.New("line 1: the path is none: a line such as POST /callbacks/stripe HTTP/1.1 expected")
	}
	headers, err := head.ReadMIMEHeader()
	if err != nil {
		return savedRequest{}, fmt.Errorf("headers: %w; each is a line NAME: VALUE, and a blank line ends them", err)
	}
	req := savedRequest{Callback: models.Callback{Account: accountOfPath(at.Path), Method: method, Path: at.Path, Query: at.RawQuery,
		Headers: http.Header(headers)}}
	return req, req.readBody(buf)
}

// readBody takes what follows the headers. Content-Length tells a file that was cut, and an editor's line break behind the body.
func (req *savedRequest) readBody(rest *bufio.Reader) error {
	var src io.Reader = rest
	if strings.EqualFold(req.Headers.Get("Transfer-Encoding"), "chunked") {
		src = httputil.NewChunkedReader(rest)
	}
	body, err := io.ReadAll(src)
	if err != nil {
		return fmt.Errorf("body: %w; save it without Transfer-Encoding: chunked", err)
	}
	req.Body = body
	if length := req.Headers.Get("Content-Length"); length != "" {
		req.checkLength(length)
	}
	return nil
}

func (req *savedRequest) checkLength(text string) {
	note := func(format string, args ...any) { req.notes = append(req.notes, fmt.Sprintf(format, args...)) }
	want, err := strconv.Atoi(text)
	have := len(req.Body)
	switch {
	case err != nil || want < 0:
		note("Content-Length %s is no length", text)
	case want > have:
		note("Content-Length is %d, the file holds %d bytes of body: it is cut", want, have)
	case want < have && len(bytes.Trim(req.Body[want:], "\r\n")) == 0:
		req.Body = req.Body[:want]
		note("line breaks behind the body's %d bytes (Content-Length) were left out", want)
	case want < have:
		note("Content-Length is %d, the file holds %d bytes of body: it is not as it was sent", want, have)
	}
}
