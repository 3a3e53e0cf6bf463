package shop

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// bodyMax is far more than an order of itemsMax items needs.
const bodyMax = 64 << 10

// readBody reads the JSON of a request; nil for none.
func readBody(c echo.Context) ([]byte, error) {
	req := c.Request()
	for _, line := range req.Header.Values(echo.HeaderContentEncoding) {
		for enc := range strings.SplitSeq(line, ",") {
			if enc = strings.TrimSpace(enc); enc != "" && !strings.EqualFold(enc, "identity") {
				return nil, problem(http.StatusUnsupportedMediaType, CodeUnsupportedMedia, "send the body as it is, without Content-Encoding")
			}
		}
	}
	tooLarge := problem(http.StatusRequestEntityTooLarge, CodeTooLarge, "the body is larger than %d bytes, more than any order needs", bodyMax)
	if req.ContentLength > bodyMax {
		c.Response().Header().Set(echo.HeaderConnection, "close")
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), req.Body, bodyMax))
	var limit *http.MaxBytesError
	switch {
	case errors.As(err, &limit):
		return nil, tooLarge
	case err != nil:
		return nil, invalid("", "the body was cut off: send the same request again")
	case len(body) > 0 && !isJSON(req.Header):
		return nil, problem(http.StatusUnsupportedMediaType, CodeUnsupportedMedia, "send JSON, with the header Content-Type: application/json")
	}
	return body, nil
}

func isJSON(h http.Header) bool {
	kind, params, err := mime.ParseMediaType(h.Get(echo.HeaderContentType))
	charset := params["charset"]
	return err == nil && len(h.Values(echo.HeaderContentType)) == 1 && kind == echo.MIMEApplicationJSON && (charset == "" || strings.EqualFold(charset, "utf-8"))
}
