package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"
)

// answer is what of a response's head matters here.
type answer struct {
	code    int
	length  int // -1: not told
	chunked bool
	closing bool
}

// roundTrip sends the request that was built and reads the whole response, just closely enough to use the connection again.
func (w *worker) roundTrip() (int, error) {
	if err := w.conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return 0, err
	}
	if _, err := w.conn.Write(w.request); err != nil {
		return 0, err
	}
	a, err := w.readHead()
	if err != nil {
		return 0, err
	}
	if err := w.skipBody(&a); err != nil {
		return 0, err
	}
	if a.closing {
		return a.code, w.dial()
	}
	return a.code, nil
}

func (w *worker) readHead() (answer, error) {
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return answer{}, err
	}
	if len(line) < 12 {
		return answer{}, fmt.Errorf("status line %q is too short", line)
	}
	a := answer{length: -1}
	if a.code, err = strconv.Atoi(string(line[9:12])); err != nil {
		return a, err
	}
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return a, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return a, nil
		}
		if err := a.header(line); err != nil {
			return a, err
		}
	}
}

func (a *answer) header(line []byte) (err error) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("content-length")):
		a.length, err = strconv.Atoi(string(value))
	case bytes.EqualFold(name, []byte("transfer-encoding")):
		a.chunked = bytes.EqualFold(value, []byte("chunked"))
	case bytes.EqualFold(name, []byte("connection")):
		a.closing = bytes.EqualFold(value, []byte("close"))
	}
	return err
}

func (w *worker) skipBody(a *answer) (err error) {
	switch {
	case a.code == 204 || a.code == 304:
	case a.chunked:
		return w.skipChunks()
	case a.length >= 0:
		_, err = w.in.Discard(a.length)
	default: // up to the end of the connection
		_, err = io.Copy(io.Discard, w.in)
		a.closing = true
	}
	return err
}

func (w *worker) skipChunks() error {
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimRight(line, "\r\n")), 16, 32)
		if err != nil {
			return err
		}
		if _, err := w.in.Discard(int(size) + len("\r\n")); err != nil || size == 0 {
			return err
		}
	}
}
