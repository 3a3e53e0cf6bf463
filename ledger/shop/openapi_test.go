package shop_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"paybook/ledger/shop"
)

var description = sync.OnceValues(func() (validator.Validator, error) {
	doc, err := libopenapi.NewDocument(shop.OpenAPI)
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return v, nil
})

// described fails unless the answer is as the description says; and the request too, if it was taken: what the handlers accept must be
// described, and what is described must be what they answer.
func (s site) described(req *http.Request, sent string, got said) {
	s.Helper()
	if req.Method == http.MethodHead || !isDescribed(req) {
		return
	}
	v, err := description()
	if err != nil {
		s.Fatal(err)
	}
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(strings.NewReader(sent))
	resp := &http.Response{StatusCode: got.status, Header: got.header, Body: io.NopCloser(strings.NewReader(got.body)), Request: req}
	if ok, problems := v.ValidateHttpResponse(req, resp); !ok {
		s.Errorf("%s %s answered %d %s\nnot as described: %v", req.Method, req.URL, got.status, got.body, problems[0])
	}
	if got.status >= http.StatusMultipleChoices {
		return
	}
	req.Body = io.NopCloser(strings.NewReader(sent))
	if sent == "" {
		req.Body = http.NoBody
	}
	if ok, problems := v.ValidateHttpRequestSync(req); !ok {
		s.Errorf("%s %s was taken, and is not as described: %s %v", req.Method, req.URL, sent, problems[0])
	}
}

// isDescribed is false for what no route is for.
func isDescribed(req *http.Request) bool {
	for _, r := range routesDescribed() {
		method, path, _ := strings.Cut(r, " ")
		pattern := regexp.MustCompile("^" + regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "[^/]+") + "$")
		if method == req.Method && pattern.MatchString(req.URL.EscapedPath()) {
			return true
		}
	}
	return false
}

// routesDescribed are the description's routes, "POST /orders/{order_id}/pay".
var routesDescribed = sync.OnceValue(func() []string {
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(shop.OpenAPI, &doc); err != nil {
		panic(err)
	}
	var all []string
	for path, item := range doc.Paths {
		for method := range item {
			if method != "parameters" {
				all = append(all, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(all)
	return all
})

func TestDescriptionIsOpenAPI31(t *testing.T) {
	v, err := description()
	if err != nil {
		t.Fatal(err)
	}
	if ok, problems := v.ValidateDocument(); !ok {
		for _, p := range problems {
			t.Error(p)
		}
	}
	if !bytes.Contains(shop.OpenAPI, []byte(`"openapi": "3.1.`)) {
		t.Error("no OpenAPI 3.1")
	}
}

// Every route is described, and every described route is there.
func TestEveryRouteIsDescribed(t *testing.T) {
	e := echo.New()
	(&shop.Server{}).Mount(e.Group(""))
	parameter := regexp.MustCompile(`:(\w+)`)
	var mounted []string
	for _, r := range e.Routes() {
		if r.Method != http.MethodHead && r.Method != echo.RouteNotFound {
			path := strings.ReplaceAll(parameter.ReplaceAllString(r.Path, "{$1}"), "/orders/{id}", "/orders/{order_id}")
			mounted = append(mounted, r.Method+" "+path)
		}
	}
	slices.Sort(mounted)
	if got := routesDescribed(); !slices.Equal(got, mounted) {
		t.Errorf("described %q\nmounted   %q", got, mounted)
	}
}

// Every code that a problem can have is an example of the description, so that a client's author sees it.
func TestEveryCodeIsDescribed(t *testing.T) {
	for _, code := range []string{shop.CodeInvalidRequest, shop.CodeInvalidKey, shop.CodeUnauthorized, shop.CodeScopeMissing, shop.CodeLocalOnly,
		shop.CodeTokenExpired, shop.CodeTokenUnknown, shop.CodeUnknownOrder, shop.CodeUnknownSKU, shop.CodeOrderExists, shop.CodeOutOfStock,
		shop.CodeStaleVersion, shop.CodeNotAllowed, shop.CodeInProgress, shop.CodeKeyReused, shop.CodeTooLarge, shop.CodeUnsupportedMedia,
		shop.CodeRateLimited, shop.CodeUnavailable} {
		if !bytes.Contains(shop.OpenAPI, []byte(`"code": "`+code+`"`)) {
			t.Errorf("%s is in no example", code)
		}
	}
}

func TestDescriptionIsServed(t *testing.T) {
	onSQLite(t, func(s site) {
		got := s.want(s.get("/openapi.json"), http.StatusOK)
		if got.header.Get("Content-Type") != "application/json" || got.body != string(shop.OpenAPI) {
			s.Errorf("%s, %d bytes", got.header.Get("Content-Type"), len(got.body))
		}
	}, shop.Key{Name: "somebody's"})
}
