package shop

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/models"
)

// Problem is a "no" as RFC 9457 has it, and an error, so that handlers return it. Code is the word programs hold on to, Detail says what
// to do next, in words that may change.
type Problem struct {
	Type        string             `json:"type"`
	Title       string             `json:"title"`
	Status      int                `json:"status"`
	Code        string             `json:"code"`
	Detail      string             `json:"detail,omitempty"`
	Field       string             `json:"field,omitempty"`        // what of the request is wrong: items[0].quantity
	OrderID     string             `json:"order_id,omitempty"`     // the order it is about
	OrderStatus models.OrderStatus `json:"order_status,omitempty"` // its state now; status is taken by HTTP's
	Version     int64              `json:"version,omitempty"`      // its version now
	SKU         string             `json:"sku,omitempty"`          // out_of_stock: of what there is too little
	Available   *int64             `json:"available,omitempty"`    // out_of_stock: units that may still be ordered
	RequestID   string             `json:"request_id"`

	RetryAfter   time.Duration `json:"-"` // header Retry-After, in whole seconds; 0: none
	Authenticate string        `json:"-"` // header WWW-Authenticate; "": none
	quiet        bool          // too usual for the log
}

// Codes of the shop's own problems. A problem without one of these has its HTTP status in small letters: not_found.
const (
	CodeInvalidRequest    = "invalid_request"     // 400: Field says what is wrong
	CodeInvalidKey        = "invalid_key"         // 400: the header Idempotency-Key
	CodeUnauthorized      = "unauthorized"        // 401: no API key, or none of ours
	CodeScopeMissing      = "scope_missing"       // 403: the API key may not do this
	CodeLocalOnly         = "local_only"          // 403: no API key is configured, and the request is not from this machine
	CodeTokenExpired      = "token_expired"       // 403
	CodeTokenUnknown      = "token_unknown"       // 403: tok_… that was never issued to this API key
	CodeUnknownOrder      = "unknown_order"       // 404
	CodeUnknownSKU        = "unknown_sku"         // 404
	CodeOrderExists       = "order_exists"        // 409: the number is taken
	CodeOutOfStock        = "out_of_stock"        // 409
	CodeStaleVersion      = "stale_version"       // 409: the order has moved on
	CodeNotAllowed        = "not_allowed"         // 409: no such move from this state
	CodeInProgress        = "request_in_progress" // 409: the first request under this key is still running
	CodeKeyReused         = "key_reused"          // 422: the same key with another request
	CodeTooLarge          = "too_large"           // 413
	CodeUnsupportedMedia  = "unsupported_media"   // 415
	CodeRateLimited       = "rate_limited"        // 429
	CodeUnavailable       = "unavailable"         // 503: the database or anything of ours
	problemTypes          = "urn:problem-type:paybook:"
	problemType           = "application/problem+json"
	retryAfterUnavailable = 2 * time.Second
)

// problem is one of the shop's own.
func problem(status int, code, format string, args ...any) *Problem {
	return &Problem{
		Type: problemTypes + code, Title: http.StatusText(status), Status: status, Code: code, Detail: fmt.Sprintf(format, args...),
	}
}

// invalid is a request that makes no sense at one place.
func invalid(field, format string, args ...any) *Problem {
	text := fmt.Sprintf(format, args...)
	if field != "" {
		text = field + ": " + text
	}
	p := problem(http.StatusBadRequest, CodeInvalidRequest, "%s", text)
	p.Field = field
	return p
}

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Detail) }

// ProblemOf is an error as the outside may see it. meant is false for one that nobody meant for the outside: it belongs into the log, and
// the problem does not tell it.
func ProblemOf(err error) (p Problem, meant bool) {
	var own *Problem
	if errors.As(err, &own) {
		return *own, true
	}
	p = Problem{Type: "about:blank", Status: http.StatusInternalServerError}
	var framework *echo.HTTPError
	if meant = errors.As(err, &framework); meant {
		p.Status = framework.Code
		p.Detail, _ = framework.Message.(string)
	}
	p.Title = http.StatusText(p.Status)
	p.Code = strings.ReplaceAll(strings.ToLower(p.Title), " ", "_")
	if p.Detail == p.Title {
		p.Detail = nextStep[p.Status]
	}
	return p, meant
}

// nextStep is what to do about a refusal of the framework's.
var nextStep = map[int]string{
	http.StatusNotFound:         "no such route: /openapi.json lists the shop's; a slash in an order number or SKU is %2F in its address",
	http.StatusMethodNotAllowed: "this route takes other methods: see the header Allow, and /openapi.json",
}

// Send answers with the problem.
func (p Problem) Send(c echo.Context) error {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, "no-store")
	if p.RetryAfter > 0 {
		h.Set(echo.HeaderRetryAfter, wholeSeconds(p.RetryAfter))
	}
	if p.Authenticate != "" {
		h.Set(echo.HeaderWWWAuthenticate, p.Authenticate)
	}
	if c.Request().Method == http.MethodHead {
		return c.NoContent(p.Status)
	}
	p.RequestID = requestID(c)
	return c.Blob(p.Status, problemType, encode(p))
}

// wholeSeconds rounds up: who comes a moment too early is sent away again.
func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// encode writes one line of JSON. Everything it is given is a struct of ours, which always can be written.
func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("shop: %T: %v", v, err))
	}
	return append(body, '\n')
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }
