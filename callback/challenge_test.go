package callback_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"paybook/callback"
	"paybook/models"
)

// challenger is a shop that answers ?challenge=… with its value.
type challenger struct{ shop }

func (*challenger) Challenge(cb models.Callback) (status int, contentType, body string, ok bool) {
	return http.StatusOK, "text/plain", cb.Query, cb.Query != "" && len(cb.Body) == 0
}

// A check of the address is answered where the account has one; every other GET stays a wrong method, and nothing is recorded.
func TestChallenge(t *testing.T) {
	observed := 0
	server := callback.Server{
		Accounts: []callback.Account{{Name: "asks", Provider: &challenger{}}, {Name: "plain", Provider: &shop{}}},
		Observe:  func(callback.Observation) { observed++ },
	}
	e := echo.New()
	server.Mount(e.Group(""))
	for _, c := range []struct {
		method, target string
		status         int
		body, allow    string
	}{
		{"GET", "/callbacks/asks?c=1", 200, "c=1", ""}, {"GET", "/callbacks/asks/?c=1", 200, "c=1", ""}, {"GET", "/callbacks/asks", 405, "", "POST"},
		{"PUT", "/callbacks/asks?c=1", 405, "", "POST"}, {"DELETE", "/callbacks/asks?c=1", 405, "", "POST"}, {"GET", "/callbacks/plain?c=1", 405, "", "POST"},
		{"HEAD", "/callbacks/plain?c=1", 405, "", "POST"}, {"GET", "/callbacks/none?c=1", 404, "{\"message\":\"no such account\"}\n", ""},
	} {
		rec := httptest.NewRecorder()
		e.ServeHTTP(rec, httptest.NewRequest(c.method, c.target, nil))
		if rec.Code != c.status || rec.Body.String() != c.body || rec.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s = %d %q, Allow %q; want %d %q, %q", c.method, c.target, rec.Code, rec.Body, rec.Header().Get("Allow"), c.status, c.body, c.allow)
		}
		if c.status == 200 && (rec.Header().Get("X-Content-Type-Options") != "nosniff" || rec.Header().Get("Content-Type") != "text/plain") {
			t.Errorf("%s: headers %v", c.target, rec.Header())
		}
	}
	rec := httptest.NewRecorder()
	e.ServeHTTP(rec, httptest.NewRequest(http.MethodHead, "/callbacks/asks?c=1", nil))
	if rec.Code != 200 || observed != 0 {
		t.Errorf("HEAD = %d, %d callbacks observed; want 200 and none", rec.Code, observed)
	}
}
